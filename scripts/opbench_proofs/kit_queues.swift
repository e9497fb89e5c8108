// Added to a copy of Tests/Examples/pthread-queue by scripts/prove-kit.
import OpBenchKit
import OperationEngine

/// The engine, as one who knows it from outside would declare it.
final class EngineQueue: SuspendableQueue, WaitingQueue {
    private let queue = OperationQueue()

    init(limit: Int?) { if let limit { queue.maxConcurrentOperationCount = limit } }

    func submit(_ work: @escaping Work) { queue.addOperation(work) }
    func suspend() { queue.isSuspended = true }
    func resume() { queue.isSuspended = false }
    func waitUntilEmpty() { queue.waitUntilAllOperationsAreFinished() }
}

/// Runs each piece of work twice, on two threads.
final class TwiceQueue: MeasuredQueue {
    private let queues = (OperationQueue(), OperationQueue())

    func submit(_ work: @escaping Work) {
        queues.0.addOperation(work)
        queues.1.addOperation(work)
    }
}
