/// A task that awaits the end of an operation or of a queue's work.
///
/// It lives in its task's frame, and a list does not own it. While it is listed, its task is suspended. Only the thread
/// that takes it off the list, under the list's lock, may resume the task.
final class Awaiter: Linked, @unchecked Sendable {
    // All guarded by the list's lock.
    var links = ListLinks<Awaiter>()
    /// Set while listed.
    fileprivate var continuation: UnsafeContinuation<Bool, Never>?
    private var isCancelled = false

    /// Suspends the calling task until the awaiter that `enter` has listed is resumed, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - enter: lists the awaiter with the continuation and returns nil. If there is nothing to await, it returns
    ///     true if the awaited event has happened, and false if the awaiter is cancelled.
    ///   - withdraw: calls `cancel` under the list's lock.
    nonisolated(nonsending) static func suspend(
        enter: (Awaiter, UnsafeContinuation<Bool, Never>) -> Bool?,
        withdraw: @Sendable (Awaiter) -> UnsafeContinuation<Bool, Never>?
    ) async -> Bool {
        let awaiter = Awaiter()
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                if let verdict = enter(awaiter, continuation) { continuation.resume(returning: verdict) }
            }
        } onCancel: {
            withdraw(awaiter)?.resume(returning: false)
        }
    }

    /// Lists the awaiter unless its task is cancelled. Returns whether it is listed.
    func enter(_ list: inout LinkedList<Awaiter>, _ continuation: UnsafeContinuation<Bool, Never>) -> Bool {
        if isCancelled { return false }
        self.continuation = continuation
        list.append(self)
        return true
    }

    /// Takes the awaiter off the list, because its task is cancelled. Returns the continuation, which the caller
    /// resumes once it has released the lock. Nil if another thread has it, or if it is not stored yet; then `enter`
    /// will see the cancellation.
    func cancel(_ list: inout LinkedList<Awaiter>) -> UnsafeContinuation<Bool, Never>? {
        isCancelled = true
        guard let continuation = continuation.take() else { return nil }
        list.remove(self)
        return continuation
    }
}

extension LinkedList<Awaiter> {
    /// Takes all awaiters off the list. The caller resumes them once it has released the lock.
    mutating func takeAll() -> [UnsafeContinuation<Bool, Never>] {
        var all: [UnsafeContinuation<Bool, Never>] = []
        while let awaiter = first?.takeUnretainedValue() {
            if let continuation = awaiter.continuation.take() { all.append(continuation) }
            remove(awaiter)
        }
        return all
    }
}
