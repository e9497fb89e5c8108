/// A task that awaits an end, of an operation or of a queue's work.
///
/// It lives in its task's frame, so a list need not own it: while it is listed its task is suspended, and whoever takes
/// it off the list, under the list's lock, is the only one that may resume the task.
final class Awaiter: @unchecked Sendable {
    // Guarded by the lock of the list, all of them.
    fileprivate var previous: Unmanaged<Awaiter>?
    fileprivate var next: Unmanaged<Awaiter>?
    /// Present while listed.
    fileprivate var continuation: UnsafeContinuation<Bool, Never>?
    private var isCancelled = false

    /// Suspends the calling task until somebody resumes what `enter` has listed, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - enter: lists the awaiter with the continuation, or says that there is nothing to await: true if what it
    ///     is about has happened, false if the awaiter is cancelled; nil if it was listed.
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

    /// Lists the awaiter unless its task is cancelled. True if listed.
    func enter(_ list: inout AwaiterList, _ continuation: UnsafeContinuation<Bool, Never>) -> Bool {
        if isCancelled { return false }
        self.continuation = continuation
        list.append(self)
        return true
    }

    /// The task is cancelled: takes the awaiter off the list. The continuation, for the caller to resume once it has
    /// released the lock, unless somebody else has it, or it is not there yet and `enter` will see the cancellation.
    func cancel(_ list: inout AwaiterList) -> UnsafeContinuation<Bool, Never>? {
        isCancelled = true
        guard let continuation = continuation.take() else { return nil }
        list.remove(self)
        return continuation
    }
}

/// Awaiters in the order of their coming. Guarded by the lock of whom they await.
struct AwaiterList {
    private var first: Unmanaged<Awaiter>?
    private var last: Unmanaged<Awaiter>?

    var isEmpty: Bool { first == nil }

    fileprivate mutating func append(_ awaiter: Awaiter) {
        let link = Unmanaged.passUnretained(awaiter)
        awaiter.previous = last
        if let last { last._withUnsafeGuaranteedRef { $0.next = link } } else { first = link }
        last = link
    }

    fileprivate mutating func remove(_ awaiter: Awaiter) {
        let (before, after) = (awaiter.previous, awaiter.next)
        if let before { before._withUnsafeGuaranteedRef { $0.next = after } } else { first = after }
        if let after { after._withUnsafeGuaranteedRef { $0.previous = before } } else { last = before }
        awaiter.previous = nil
        awaiter.next = nil
    }

    /// Takes all awaiters off; the caller resumes them once it has released the lock.
    mutating func takeAll() -> [UnsafeContinuation<Bool, Never>] {
        var all: [UnsafeContinuation<Bool, Never>] = []
        while let awaiter = first?.takeUnretainedValue() {
            if let continuation = awaiter.continuation.take() { all.append(continuation) }
            remove(awaiter)
        }
        return all
    }
}
