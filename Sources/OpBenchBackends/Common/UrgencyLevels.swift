import OpBenchModel

extension WorkloadPlan {
    /// The level of each class, from 0 to 4 by ascending urgency, for queues and tasks of five levels; empty in shapes
    /// without classes.
    var classLevels: [Int] {
        let isByThread = threadPriorities != nil
        return (classes?.values ?? []).map { value in
            // A thread priority on the scale of queue priorities, from -8 to 8.
            switch isByThread ? (value - 0.5) * 16 : value {
            case ..<(-4): 0
            case ..<0: 1
            case 0: 2
            case ...4: 3
            default: 4
            }
        }
    }
}
