import OperationEngine
import Synchronization
import TestSupport

/// Gives every event of a program its place in one order.
final class History: Sendable {
    private let last = Atomic<UInt64>(0)

    /// From mains: relaxed, so that it adds no order of its own to the one that is looked at.
    func mark() -> UInt64 { last.add(1, ordering: .relaxed).newValue }

    /// Around calls of the storm, whose real-time order counts.
    func markCall() -> UInt64 { last.add(1, ordering: .acquiringAndReleasing).newValue }

    /// The duration of a call; both ends are later than everything before the call and earlier than everything after
    /// it.
    struct Span: Sendable {
        var begin: UInt64
        var end: UInt64
    }

    @discardableResult
    func span(_ call: () -> Void) -> Span {
        let begin = markCall()
        call()
        return Span(begin: begin, end: markCall())
    }
}

/// One dependency that was added, at one time.
final class Edge: Sendable {
    let dependent: Int
    let dependency: Int
    /// Whether nobody ever removes it.
    let isPermanent: Bool
    /// 0 as long as it has not come to that.
    let addEnd = Atomic<UInt64>(0)
    let removeBegin = Atomic<UInt64>(0)
    let removeEnd = Atomic<UInt64>(0)
    /// Added late, and the operation was then seen unready: so it had not begun, and the edge counts (E18).
    let wasSeenHolding = Atomic<Bool>(false)

    init(dependent: Int, dependency: Int, isPermanent: Bool) {
        self.dependent = dependent
        self.dependency = dependency
        self.isPermanent = isPermanent
    }
}

/// The record of one operation: its part of the plan, and what happened to it.
///
/// Times are those of the program's `History`; 0 is never.
final class Subject: @unchecked Sendable {
    let index: Int
    let task: Plan.Task
    /// Lives as long as any operation of it.
    unowned let program: Program
    /// Dependencies from before the operation was added.
    let fixed: [Edge]
    /// Dependencies that came late and were seen to hold it back.
    let holding = Guarded<[Edge]>([])
    /// The operations that its main adds, and those that its completion block adds.
    var childrenOfMain: [Int] = []
    var childrenOfCompletion: [Int] = []

    let adoption = Atomic<Bool>(false)
    let addBegin = Atomic<UInt64>(0)
    let addEnd = Atomic<UInt64>(0)
    /// The place of its queue in the program's list.
    let queue = Atomic<Int>(-1)

    let runs = Atomic<Int>(0)
    let started = Atomic<UInt64>(0)
    let ended = Atomic<UInt64>(0)
    /// Whether main's first look found the operation cancelled.
    let foundCancelled = Atomic<Bool>(false)
    let completions = Atomic<Int>(0)
    let completed = Atomic<UInt64>(0)
    let cancels = Guarded<[History.Span]>([])

    /// For `held`: what its `isReady` says, and when the first call to open it began.
    let isOpen = Atomic<Bool>(false)
    let firstOpening = Atomic<UInt64>(0)

    let watches = Guarded<[Watch]>([])
    /// Written by main, read by the mains of permanent dependents: unlocked on purpose.
    private var output = 0

    init(_ index: Int, _ task: Plan.Task, _ program: Program) {
        self.index = index
        self.task = task
        self.program = program
        fixed = task.dependencies.map { Edge(dependent: index, dependency: $0.on, isPermanent: $0.isPermanent) }
    }

    var hasRun: Bool { runs.load(ordering: .relaxed) > 0 }
    var isHeld: Bool { if case .held = task.kind { true } else { false } }
    var isTask: Bool { if case .task = task.kind { true } else { false } }
    var isLate: Bool { if case .late = task.kind { true } else { false } }
    var isAsynchronous: Bool { if case .asynchronous = task.kind { true } else { false } }

    // MARK: Events of the operation itself

    /// The first thing in main, or in an overridden `start` that goes on.
    func begin(_ operation: Operation) {
        let now = program.history.mark()
        let run = program.run
        if runs.add(1, ordering: .relaxed).oldValue != 0 { run.violated("\(self) runs twice (contract A5)") }
        started.store(now, ordering: .relaxed)
        // Before any look at the dependencies' states, which would order what the engine has to order.
        for edge in fixed where edge.isPermanent {
            let other = program.subjects[edge.dependency]
            if other.hasRun, other.output != 1 { run.violated("\(self) does not see what \(other) wrote (E24)") }
        }
        foundCancelled.store(operation.isCancelled, ordering: .relaxed)
        for edge in fixed + holding.read() where !program.operation(edge.dependency).hasEnded {
            if edge.removeBegin.load(ordering: .acquiring) == 0 {
                run.violated("\(self) runs although \(program.subjects[edge.dependency]) is unfinished (E1, E24)")
            }
        }
        run.advance()
    }

    /// The last thing before the operation is finished.
    func end() {
        output = 1
        ended.store(program.history.mark(), ordering: .relaxed)
        program.run.advance()
    }

    /// The completion block. The program may be gone as soon as this is counted.
    func complete() {
        completed.store(program.history.mark(), ordering: .relaxed)
        if !program.operation(index).hasEnded { program.run.violated("\(self) completes unfinished (I2)") }
        for child in childrenOfCompletion { program.adopt(child) }
        program.run.advance()
        completions.add(1, ordering: .releasing)
    }

    /// As `work`, in a task, which awaits instead of waiting.
    func workInTask() async {
        for child in childrenOfMain { program.adopt(child) }
        for step in task.steps {
            await Task.yield()
            if case .wait(let other) = step {
                let isFinished = await program.operation(other).finished()
                // A cancel of this operation ends the wait.
                if isFinished, !program.operation(other).hasEnded {
                    program.run.violated("\(self) awaits \(program.subjects[other]) and goes on early (contract O8)")
                }
            } else {
                program.take(step, in: self)
            }
        }
    }

    /// The steps of main, between `begin` and `end`.
    func work() {
        for child in childrenOfMain { program.adopt(child) }
        for step in task.steps { program.take(step, in: self) }
    }
}

extension Subject: CustomStringConvertible {
    var description: String { "#\(index) (\(task.kind), queue \(task.queue))" }
}
