import Glibc
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

/// The record of one operation, closure or barrier: its part of the plan, and what happened to it.
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

    /// Written before any other thread. Nil for a closure and a barrier, and once it is freed.
    private(set) weak var operation: Operation?
    /// Until it is added, if the program does not keep it. Touched by the thread that makes it, then by the one that adds
    /// it, then, when all is finished, by the program's.
    private var held: Operation?

    let adoption = Atomic<Bool>(false)
    let addBegin = Atomic<UInt64>(0)
    let addEnd = Atomic<UInt64>(0)
    /// The thread that adds it, while it does.
    let addingThread = Atomic<UInt>(0)
    /// The place of its queue in the program's list; negative if it is in none.
    let queue = Atomic<Int>(-1)

    let runs = Atomic<Int>(0)
    let started = Atomic<UInt64>(0)
    let ended = Atomic<UInt64>(0)
    /// The thread that ended it. Written before `ended`.
    let endingThread = Atomic<UInt>(0)
    /// Whether main's first look found the operation cancelled.
    let foundCancelled = Atomic<Bool>(false)
    let completions = Atomic<Int>(0)
    let completed = Atomic<UInt64>(0)
    let cancels = Guarded<[History.Span]>([])
    /// Whether what a block has captured is released: of a closure and a barrier, all that shows that the queue holds it no longer.
    let isBlockGone = Atomic<Bool>(false)

    /// For `held`: what its `isReady` says, and when the first call to open it began.
    let isOpen = Atomic<Bool>(false)
    let firstOpening = Atomic<UInt64>(0)

    // Of an operation that ends before its turn.
    /// When it began to say so, and when that was announced.
    let endsEarly = Atomic<UInt64>(0)
    let announced = Atomic<UInt64>(0)
    /// Whether nobody may have chosen it before it ended.
    let wasSurelyUnchosen = Atomic<Bool>(false)
    /// When its `start` was called after its end, and by which thread.
    let lateStart = Atomic<UInt64>(0)
    let lateStarter = Atomic<UInt>(0)
    let asks = Atomic<Int>(0)

    let watches = Guarded<[Watch]>([])
    /// Written by main, read by the mains of permanent dependents: unlocked on purpose.
    private var output = 0

    init(_ index: Int, _ task: Plan.Task, _ program: Program) {
        self.index = index
        self.task = task
        self.program = program
        fixed = task.dependencies.map { Edge(dependent: index, dependency: $0.on, isPermanent: $0.isPermanent) }
    }

    var kind: Plan.Kind { task.kind }
    var hasRun: Bool { runs.load(ordering: .relaxed) > 0 }
    var isAdded: Bool { addEnd.load(ordering: .acquiring) != 0 }
    var hasEndedEarly: Bool { endsEarly.load(ordering: .relaxed) != 0 }
    /// Whether it is in the queue, or the calling thread is putting it there.
    var isBeingAskedInQueue: Bool { isAdded || addingThread.load(ordering: .relaxed) == Self.thread }
    static var thread: UInt { UInt(pthread_self()) }

    /// Whether it is finished, or freed. A closure and a barrier: whether they have left their queue.
    var isOver: Bool { kind.isObject ? operation?.hasEnded ?? true : isBlockGone.load(ordering: .acquiring) }

    // MARK: The object

    func hold(_ operation: Operation?) {
        held = operation
        self.operation = operation
    }

    /// The operation for the one who adds it. After that the program holds it only if the plan says so.
    func handOver() -> Operation {
        guard let held else { preconditionFailure("\(self) is added twice") }
        if !task.isKept { self.held = nil }
        return held
    }

    func release() { held = nil }

    // MARK: Events of the operation itself

    /// The first thing in main, or in an overridden `start` that goes on.
    func begin() {
        let now = program.history.mark()
        let run = program.run
        program.isAt(.inMain, of: self)
        if runs.add(1, ordering: .relaxed).oldValue != 0 { run.violated("\(self) runs twice (contract A5)") }
        started.store(now, ordering: .relaxed)
        // Before any look at the dependencies' states, which would order what the engine has to order.
        for edge in fixed where edge.isPermanent {
            let other = program.subjects[edge.dependency]
            if other.hasRun, other.output != 1 { run.violated("\(self) does not see what \(other) wrote (E24)") }
        }
        foundCancelled.store(operation?.isCancelled ?? false, ordering: .relaxed)
        for edge in fixed + holding.read() where !program.subjects[edge.dependency].isOver {
            if edge.removeBegin.load(ordering: .acquiring) == 0 {
                run.violated("\(self) runs although \(program.subjects[edge.dependency]) is unfinished (E1, E24)")
            }
        }
        run.advance()
    }

    /// The last thing before the operation is finished.
    func end() {
        output = 1
        endingThread.store(Self.thread, ordering: .relaxed)
        ended.store(program.history.mark(), ordering: .relaxed)
        program.run.advance()
    }

    /// The completion block. The program may be gone as soon as this is counted.
    func complete() {
        completed.store(program.history.mark(), ordering: .relaxed)
        program.isAt(.inCompletion, of: self)
        if operation?.hasEnded != true { program.run.violated("\(self) completes unfinished, or freed (I2, Q9)") }
        for child in childrenOfCompletion { program.adopt(child) }
        program.run.advance()
        completions.add(1, ordering: .releasing)
    }

    /// The steps of main, between `begin` and `end`.
    func work() {
        for child in childrenOfMain { program.adopt(child) }
        for step in task.steps { program.take(step, in: self) }
    }

    /// As `work`, in a task, which awaits instead of waiting.
    func workInTask() async {
        for child in childrenOfMain { program.adopt(child) }
        for step in task.steps {
            await Task.yield()
            guard case .wait(let wait) = step else {
                program.take(step, in: self)
                continue
            }
            let other = program.subjects[wait.target]
            // A cancel of this operation ends the wait.
            if let operation = other.operation, await operation.finished(), !operation.hasEnded {
                program.run.violated("\(self) awaits \(other) and goes on early (contract O8)")
            }
        }
    }

    /// Says that it ends before its turn; `say` makes it so.
    func endEarly(_ operation: Operation, _ say: () -> Void) {
        operation.willChangeValue(forKey: "isFinished")
        endsEarly.store(program.history.markCall(), ordering: .relaxed)
        say()
        operation.didChangeValue(forKey: "isFinished")
        announced.store(program.history.markCall(), ordering: .relaxed)
    }

    /// `start` is called after the end.
    func isStartedLate() {
        lateStarter.store(Self.thread, ordering: .relaxed)
        lateStart.store(program.history.markCall(), ordering: .relaxed)
    }
}

extension Subject: CustomStringConvertible {
    var description: String { "#\(index) (\(kind), queue \(task.queue))" }
}
