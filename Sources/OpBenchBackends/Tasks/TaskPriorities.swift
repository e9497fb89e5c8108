import OpBenchModel

/// Queue priorities and thread priorities as the five priorities that a task may have.
enum TaskPriorities {
    /// By class; empty in shapes without.
    static func ofClasses(_ plan: WorkloadPlan) -> [TaskPriority] {
        guard let classes = plan.classes else { return [] }
        let isByThread = plan.threadPriorities != nil
        return classes.values.map { isByThread ? of(threadPriority: $0) : of(level: $0) }
    }

    /// Has no name in Swift's library, but a value and a meaning.
    private static let userInteractive = TaskPriority(rawValue: 33)

    private static func of(level: Double) -> TaskPriority {
        switch level {
        case ..<(-4): .background
        case ..<0: .utility
        case 0: .medium
        case ...4: .userInitiated
        default: userInteractive
        }
    }

    private static func of(threadPriority: Double) -> TaskPriority {
        switch threadPriority {
        case ..<0.25: .background
        case ..<0.5: .utility
        case 0.5: .medium
        case ...0.75: .userInitiated
        default: userInteractive
        }
    }
}
