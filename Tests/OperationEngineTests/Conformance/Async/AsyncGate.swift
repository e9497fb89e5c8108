import OperationEngine
import TestSupport
import Testing

/// A one-shot latch for one task, which waits in it without blocking a thread. Cancelling the task ends the wait.
final class AsyncGate: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    func open() { continuation.finish() }

    func wait() async {
        for await _ in stream {}
    }
}

/// Runs `body` in a task of its own and blocks the calling thread until it has ended: for tests that block, which must
/// not give up their thread between two steps, since other tests would take it for long.
@discardableResult
func awaited<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () async throws(Failure) -> Value
) throws(Failure) -> Value {
    let ended = Guarded<Result<Value, Failure>?>(nil)
    Task.detached {
        let result: Result<Value, Failure>
        do throws(Failure) {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        ended.withLock { $0 = result }
    }
    while true {
        // The test's own limit ends this if the body hangs.
        _ = ended.wait { $0 != nil }
        if let result = ended.read() { return try result.get() }
    }
}

/// An error with a number, to distinguish it from others.
struct Fault: Error, Equatable {
    let number: Int
}

/// An async operation that waits in a gate, and what is to be known of it.
struct AsyncBlocker {
    let operation: AsyncOperation<Int>
    let begun = Gate("the body begins")
    let release = AsyncGate()

    /// The body returns `value` when it is released or cancelled.
    init(value: Int = 0) {
        let (begun, release) = (begun, release)
        operation = AsyncOperation {
            begun.open()
            await release.wait()
            return value
        }
    }

    /// Adds the operation to `queue` and returns when its body runs.
    func occupy(_ queue: OperationQueue) {
        queue.addOperation(operation)
        begun.wait()
    }
}

extension OperationEnding {
    /// In short, for comparisons.
    var kind: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .skipped: "skipped"
        case .cancelled: "cancelled"
        }
    }
}
