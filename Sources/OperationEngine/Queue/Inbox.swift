import Synchronization

/// The entrance for operations and closures, without the queue's lock. A stack, linked through the items' `next`, that is
/// taken as a whole.
///
/// Any thread pushes. The holder of the queue's lock takes everything by one exchange and reverses it, which gives the
/// order of pushing. Single items are never popped, so there is no ABA problem.
struct Inbox: ~Copyable {
    private let top = Atomic<QueueItem.Pointer?>(nil)

    /// Sequentially consistent, as are `push` and `takeAll`. `QueueCore.signal` depends on that.
    var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == nil }

    /// Pushes one or several items, already linked from `last` back to `first` by `next`.
    ///
    /// - Parameter beforeFilling: called at most once, before a push that may find the inbox empty.
    /// - Returns: whether `beforeFilling` was called, and the inbox was not empty after all.
    @inline(__always)
    func push(first: QueueItem.Pointer, last: QueueItem.Pointer, beforeFilling: () -> Void) -> Bool {
        var current = top.load(ordering: .relaxed)
        var isPrepared = false
        while true {
            if current == nil, !isPrepared {
                beforeFilling()
                isPrepared = true
            }
            first.pointee.next = current
            let (exchanged, original) = top.weakCompareExchange(
                expected: current, desired: last, successOrdering: .sequentiallyConsistent,
                failureOrdering: .relaxed)
            if exchanged { return isPrepared && current != nil }
            current = original
        }
    }

    /// Empties the inbox and calls `body` for each item in the order of pushing. Only under the queue's lock.
    ///
    /// - Returns: how many items there were.
    @inline(__always)
    func takeAll(_ body: (QueueItem.Pointer) -> Void) -> Int {
        if isEmpty { return 0 }
        var count = 0
        var link = top.exchange(nil, ordering: .sequentiallyConsistent)
        var reversed: QueueItem.Pointer?
        while let item = link {
            link = item.pointee.next
            item.pointee.next = reversed
            reversed = item
            count += 1
        }
        while let item = reversed {
            reversed = item.pointee.next
            body(item)
        }
        return count
    }
}
