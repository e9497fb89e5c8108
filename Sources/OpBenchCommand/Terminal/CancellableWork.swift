import Dispatch
import OpBenchRunner
import Synchronization

/// Runs asynchronous work from a synchronous main and lets signals cancel it.
enum CancellableWork {
    /// The result of the work, and the signal that asked it to end, if one came.
    ///
    /// The calling thread sleeps meanwhile, so it must not be one of Swift concurrency's own.
    ///
    /// - Throws: `ScarcityError` if there are too few threads or descriptors to begin.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Value
    ) throws(ScarcityError) -> (value: Value, signal: Int32?) {
        try SystemRoom.check()
        // Before the work begins, so that none of it is done when a signal still has its usual meaning.
        let interruption = Interruption.shared
        let finished = DispatchSemaphore(value: 0)
        let result = Mutex<Value?>(nil)
        let task = Task.detached {
            let value = await work()
            result.withLock { $0 = value }
            finished.signal()
        }
        interruption.onFirst { task.cancel() }
        finished.wait()
        guard let value = result.withLock({ $0 }) else {
            preconditionFailure("the work signals after its result is set")
        }
        return (value, interruption.signalNumber)
    }
}
