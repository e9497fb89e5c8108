import OperationEngine
import Synchronization

/// The classes of a program's operations, which tell their subjects what happens.
enum OperationFactory {
    static func make(_ subject: Subject, _ live: LiveCount) -> Operation {
        let operation: Operation =
            switch subject.task.kind {
            case .plain: PlainOperation(subject, live)
            case .held: HeldOperation(subject, live)
            case .asynchronous(let end): AsynchronousOperation(subject, live, end)
            case .late(let end): LateOperation(subject, live, end)
            case .blocks(let count): GroupOperation(subject, live, count)
            case .task: TaskOperation(subject, live)
            }
        operation.queuePriority = subject.task.priority
        if subject.task.threadPriority != 0.5 { operation.threadPriority = subject.task.threadPriority }
        operation.completionBlock = { subject.complete() }
        return operation
    }
}

extension Plan.AsynchronousEnd {
    /// Calls `finish` in this way.
    fileprivate func perform(in program: Program, _ finish: @escaping @Sendable () -> Void) {
        switch self {
        case .inside: finish()
        case .onThread: program.finisher.perform(finish)
        case .byOperation: program.helper.addOperation(finish)
        }
    }
}

private class PlainOperation: Operation, @unchecked Sendable {
    let subject: Subject
    private let live: LiveCount

    init(_ subject: Subject, _ live: LiveCount) {
        self.subject = subject
        self.live = live
        live.add()
        super.init()
    }

    deinit { live.remove() }

    override func main() {
        subject.begin(self)
        subject.work()
        subject.end()
    }
}

/// Held back by a gate of its own besides its dependencies (contract F2).
private final class HeldOperation: PlainOperation, @unchecked Sendable {
    override var isReady: Bool { super.isReady && subject.isOpen.load(ordering: .acquiring) }
}

/// Leaves `start` to the engine, and says itself after its main that it is finished. Says nothing if its main is left out
/// (contract C14).
private final class LateOperation: PlainOperation, @unchecked Sendable {
    private let manner: Plan.AsynchronousEnd
    private let isOver = Atomic<Bool>(false)

    init(_ subject: Subject, _ live: LiveCount, _ manner: Plan.AsynchronousEnd) {
        self.manner = manner
        super.init(subject, live)
    }

    override var isFinished: Bool { super.isFinished && isOver.load(ordering: .acquiring) }

    override func main() {
        subject.begin(self)
        subject.work()
        manner.perform(in: subject.program) { [self] in
            subject.end()
            willChangeValue(forKey: "isFinished")
            isOver.store(true, ordering: .releasing)
            didChangeValue(forKey: "isFinished")
        }
    }
}

/// Several blocks, which all have to run before the end (contract K3).
private final class GroupOperation: BlockOperation, @unchecked Sendable {
    private let subject: Subject
    private let live: LiveCount
    private let blocks: Int
    private let ran = Tally()

    init(_ subject: Subject, _ live: LiveCount, _ blocks: Int) {
        self.subject = subject
        self.live = live
        self.blocks = blocks
        live.add()
        super.init()
        let ran = ran
        for _ in 0..<blocks { addExecutionBlock { ran.ends.add(1, ordering: .relaxed) } }
    }

    deinit { live.remove() }

    override func main() {
        subject.begin(self)
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
    private let live: LiveCount

    init(_ subject: Subject, _ live: LiveCount) {
        self.subject = subject
        self.live = live
        live.add()
        super.init(taskPriority: nil)
    }

    deinit { live.remove() }

    override func run() async {
        subject.begin(self)
        await subject.workInTask()
        subject.end()
    }
}

/// Keeps its own state and says itself when it is finished (contract C1).
private final class AsynchronousOperation: Operation, @unchecked Sendable {
    private enum Phase: Int { case waiting, executing, finished }

    private let subject: Subject
    private let live: LiveCount
    private let manner: Plan.AsynchronousEnd
    private let phase = Atomic<Int>(Phase.waiting.rawValue)

    init(_ subject: Subject, _ live: LiveCount, _ manner: Plan.AsynchronousEnd) {
        self.subject = subject
        self.live = live
        self.manner = manner
        live.add()
        super.init()
    }

    deinit { live.remove() }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase.load(ordering: .acquiring) == Phase.executing.rawValue }
    override var isFinished: Bool { phase.load(ordering: .acquiring) == Phase.finished.rawValue }

    override func start() {
        if isCancelled {
            willChangeValue(forKey: "isFinished")
            phase.store(Phase.finished.rawValue, ordering: .releasing)
            didChangeValue(forKey: "isFinished")
            return
        }
        willChangeValue(forKey: "isExecuting")
        phase.store(Phase.executing.rawValue, ordering: .releasing)
        didChangeValue(forKey: "isExecuting")
        subject.begin(self)
        subject.work()
        manner.perform(in: subject.program) { self.finish() }
    }

    private func finish() {
        subject.end()
        willChangeValue(forKey: "isFinished")
        willChangeValue(forKey: "isExecuting")
        phase.store(Phase.finished.rawValue, ordering: .releasing)
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
