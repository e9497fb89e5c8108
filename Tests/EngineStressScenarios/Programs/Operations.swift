import OperationEngine
import Synchronization

/// Makes a program's operations, which tell their subjects what happens.
enum OperationFactory {
    /// Nil for a closure and a barrier.
    static func make(_ subject: Subject) -> Operation? {
        let operation: Operation
        switch subject.kind {
        case .closure, .barrier: return nil
        case .plain: operation = PlainOperation(subject)
        case .held: operation = HeldOperation(subject)
        case .block: operation = BlockOperation(block: block(subject))
        case .blocks(let count): operation = GroupOperation(subject, count)
        case .task: operation = TaskOperation(subject)
        case .ownStart(.whenAsked(let last)): operation = AskedOperation(subject, last)
        case .ownStart(let end): operation = OwnStartOperation(subject, end)
        case .ownEnd(let end): operation = OwnEndOperation(subject, end)
        }
        if subject.task.priority != .normal { operation.queuePriority = subject.task.priority }
        if subject.task.threadPriority != 0.5 { operation.threadPriority = subject.task.threadPriority }
        if subject.task.hasCompletion { operation.completionBlock = { subject.complete() } }
        return operation
    }

    /// The body of a block, a closure or a barrier, with an object that only it holds.
    static func block(_ subject: Subject) -> @Sendable () -> Void {
        let life = Life(subject)
        return {
            withExtendedLifetime(life) {
                subject.begin()
                subject.work()
                subject.end()
            }
        }
    }
}

/// The object that an operation has, or that a block captures. Its end is that of the operation, or of the block.
private final class Life: Sendable {
    private let subject: Subject
    private let live: LiveCount

    init(_ subject: Subject) {
        self.subject = subject
        live = subject.program.live
        live.add()
    }

    deinit {
        subject.program.lastWords(of: subject)
        subject.isBlockGone.store(true, ordering: .releasing)
        // The program may be gone as soon as this is counted.
        live.remove()
    }
}

extension Plan.End {
    /// Calls `finish` in this way.
    fileprivate func perform(in program: Program, _ finish: @escaping @Sendable () -> Void) {
        switch self {
        case .inside, .anyTime, .atEnd, .inDeinit, .whenAsked: finish()
        case .onThread, .whenCancelled, .byHand: program.finisher.perform(finish)
        case .byOperation: program.helper.addOperation(finish)
        }
    }
}

private class PlainOperation: Operation, @unchecked Sendable {
    let subject: Subject
    private let life: Life

    init(_ subject: Subject) {
        self.subject = subject
        life = Life(subject)
        super.init()
    }

    override func main() {
        subject.begin()
        subject.work()
        subject.end()
    }
}

/// Held back by a gate of its own besides its dependencies (contract F2).
private final class HeldOperation: PlainOperation, @unchecked Sendable {
    override var isReady: Bool { super.isReady && subject.isOpen.load(ordering: .acquiring) }
}

/// Several blocks, which all have to run before the end (contract K3).
private final class GroupOperation: BlockOperation, @unchecked Sendable {
    private let subject: Subject
    private let life: Life
    private let blocks: Int
    private let ran = Tally()

    init(_ subject: Subject, _ blocks: Int) {
        self.subject = subject
        life = Life(subject)
        self.blocks = blocks
        super.init()
        let ran = ran
        for _ in 0..<blocks { addExecutionBlock { ran.ends.add(1, ordering: .relaxed) } }
    }

    override func main() {
        subject.begin()
        subject.work()
        super.main()
        let count = ran.ends.load(ordering: .relaxed)
        if count != blocks { subject.program.run.violated("\(subject) ran \(count) of \(blocks) blocks (contract K3)") }
        subject.end()
    }
}

/// Works in a task, and blocks no thread (contract X1).
private final class TaskOperation: AsyncOperation<Void>, @unchecked Sendable {
    private let subject: Subject
    private let life: Life

    init(_ subject: Subject) {
        self.subject = subject
        life = Life(subject)
        super.init(taskPriority: nil)
    }

    override func run() async {
        subject.begin()
        await subject.workInTask()
        subject.end()
    }
}

/// An operation whose end others may announce.
protocol EndableEarly: Operation {
    /// Ends it unless it has begun. True if it did.
    @discardableResult
    func endEarly() -> Bool
}

/// Decides which thread ends an operation that several may end.
private final class Claim: Sendable {
    enum Phase: Int { case waiting, executing, ending, finished }

    private let value = Atomic<Int>(Phase.waiting.rawValue)

    var phase: Phase { Phase(rawValue: value.load(ordering: .acquiring))! }

    /// True for the first caller.
    func begin(_ next: Phase) -> Bool {
        value.compareExchange(
            expected: Phase.waiting.rawValue, desired: next.rawValue, ordering: .acquiringAndReleasing
        ).exchanged
    }

    func finish() { value.store(Phase.finished.rawValue, ordering: .releasing) }
}

/// Keeps its own state and says itself when it is finished (contract C1). Notes when `start` is called after the end.
private class OwnStartOperation: PlainOperation, EndableEarly, @unchecked Sendable {
    private let end: Plan.End
    private let claim = Claim()

    init(_ subject: Subject, _ end: Plan.End) {
        self.end = end
        super.init(subject)
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { claim.phase == .executing }
    override var isFinished: Bool { claim.phase == .finished }

    override func start() {
        let isCancelled = isCancelled
        guard claim.begin(isCancelled ? .ending : .executing) else {
            if claim.phase == .finished { subject.isStartedLate() }
            return
        }
        if isCancelled {
            willChangeValue(forKey: "isFinished")
            claim.finish()
            didChangeValue(forKey: "isFinished")
            return
        }
        willChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isExecuting")
        subject.begin()
        subject.work()
        end.perform(in: subject.program) { self.finish() }
    }

    private func finish() {
        subject.end()
        willChangeValue(forKey: "isFinished")
        willChangeValue(forKey: "isExecuting")
        claim.finish()
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }

    @discardableResult
    func endEarly() -> Bool {
        guard claim.begin(.ending) else { return false }
        subject.endEarly(self) { claim.finish() }
        return true
    }
}

/// Ends when it is asked for the n-th time whether it is ready, once it is in its queue and otherwise ready.
private final class AskedOperation: OwnStartOperation, @unchecked Sendable {
    private let last: Int

    init(_ subject: Subject, _ last: Int) {
        self.last = last
        super.init(subject, .whenAsked(last))
    }

    override var isReady: Bool {
        guard super.isReady else { return false }
        if subject.isBeingAskedInQueue, subject.asks.add(1, ordering: .relaxed).newValue == last {
            subject.wasSurelyUnchosen.store(true, ordering: .relaxed)
            endEarly()
        }
        return true
    }
}

/// Leaves `start` to the engine, and says itself that it is finished: after its main, or before its turn. Says nothing if
/// its main is left out (contract C14).
private final class OwnEndOperation: PlainOperation, EndableEarly, @unchecked Sendable {
    private let end: Plan.End
    private let claim = Claim()

    init(_ subject: Subject, _ end: Plan.End) {
        self.end = end
        super.init(subject)
    }

    override var isFinished: Bool {
        let isOver = claim.phase == .finished
        return switch end {
        case .anyTime: isOver || super.isFinished
        case .whenCancelled, .byHand: isOver
        case .inside, .onThread, .byOperation, .atEnd, .inDeinit, .whenAsked: isOver && super.isFinished
        }
    }

    override func main() {
        guard claim.begin(.executing) else { return }
        subject.begin()
        subject.work()
        // The engine's own end does.
        guard end != .anyTime else { return subject.end() }
        end.perform(in: subject.program) { [self] in
            subject.end()
            willChangeValue(forKey: "isFinished")
            claim.finish()
            didChangeValue(forKey: "isFinished")
        }
    }

    override func cancel() {
        super.cancel()
        // Some announce an end all the same, before the engine's or after it.
        if end == .whenCancelled, subject.index.isMultiple(of: 2) {
            subject.program.finisher.perform { self.endEarly() }
        }
    }

    @discardableResult
    func endEarly() -> Bool {
        guard claim.begin(.ending) else { return false }
        subject.endEarly(self) { claim.finish() }
        return true
    }
}
