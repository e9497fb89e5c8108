import Synchronization

/// The entrance for operations and batches of closures, without the queue's lock. A stack, linked through the items'
/// `next`, that is taken as a whole.
///
/// Any thread pushes. The holder of the queue's lock takes everything by one exchange and reverses it, which gives the
/// order of pushing. Single items are never popped, so there is no ABA problem.
struct Inbox: ~Copyable {
    /// The bits of a `ReadyItem?`.
    private let top = Atomic<UInt>(bits(nil))

    private static func bits(_ item: ReadyItem?) -> UInt { unsafeBitCast(item, to: UInt.self) }
    private static func item(_ bits: UInt) -> ReadyItem? { unsafeBitCast(bits, to: ReadyItem?.self) }

    /// Sequentially consistent, as are `push` and `takeAll`. `QueueCore.signal` depends on that.
    var isEmpty: Bool { top.load(ordering: .sequentiallyConsistent) == Self.bits(nil) }

    func push(_ item: ReadyItem) { push(first: item, last: item) }

    /// Pushes several items, already linked from `last` back to `first` by `next`.
    func push(first: ReadyItem, last: ReadyItem) {
        var current = top.load(ordering: .relaxed)
        while true {
            first.next = Self.item(current)
            let (exchanged, original) = top.weakCompareExchange(
                expected: current, desired: Self.bits(last), successOrdering: .sequentiallyConsistent,
                failureOrdering: .relaxed)
            if exchanged { return }
            current = original
        }
    }

    /// Empties the inbox and calls `body` for each item in the order of pushing. Only under the queue's lock.
    func takeAll(_ body: (ReadyItem) -> Void) {
        guard !isEmpty else { return }
        var link = Self.item(top.exchange(Self.bits(nil), ordering: .sequentiallyConsistent))
        var reversed: ReadyItem?
        while let item = link {
            link = item.next
            item.next = reversed
            reversed = item
        }
        while let item = reversed {
            reversed = item.next
            body(item)
        }
    }
}
