import Synchronization

/// Closures that were added to a queue one after the other, without an operation object for each.
///
/// To its queue a batch is one ready item of normal priority: it goes through the inbox and stands in a list like an
/// operation, and who chooses it takes its first closure. Objects are made of the closures only if somebody asks for the
/// queue's operations.
///
/// An *open* batch still takes closures. Something that has to come behind those closures *closes* it first: an operation
/// that is added, or becomes ready at the same level, or a barrier. A batch that is listed has closures; the open one is
/// set aside by its queue (`QueueState.lastBatch`) while it has none.
///
/// **Who owns what.** A place of `closures` belongs to the adding thread, under the entrance's lock, until `added` counts
/// it, and from there on to whoever holds the queue's lock. The queue retains the batch until it is empty and not its
/// last one, and the entrance while closures may be added to it.
///
/// **Closing takes no lock.** Adding counts a closure by a compare-exchange of `added`, closing sets a bit of the same
/// word: of two threads, one that adds and one that closes, either the closure is counted before the batch is closed, or
/// the adding thread finds it closed.
final class ClosureBatch: @unchecked Sendable {
    private let liveMark = LiveMark(.closureBatch)
    // The batch's place in its queue, as an operation has one. Guarded by the queue's lock; `next` belongs to the adding
    // thread until the batch is pushed into the inbox.
    @exclusivity(unchecked) var next: ReadyItem?
    @exclusivity(unchecked) var previous: ReadyItem?
    @exclusivity(unchecked) var place = QueuePlace.none
    /// The number of the first closure; the others' follow. Written when the batch is admitted.
    @exclusivity(unchecked) var sequence: UInt64 = 0

    /// How many closures were taken. Guarded by the queue's lock, as is `seen`: the latest look at `added`.
    @exclusivity(unchecked) private var taken = 0
    @exclusivity(unchecked) private var seen = 0
    /// The same places as `places`: for who takes.
    private let closures: UnsafeMutablePointer<BlockOperation.Block>
    /// Whether its closures are to be let go of, without being called. Then it is closed. Guarded by the queue's lock.
    @exclusivity(unchecked) var isCancelled = false

    private let padding = CacheLine()
    let capacity: Int
    /// The same places as `closures`: for who adds.
    private let places: UnsafeMutablePointer<BlockOperation.Block>
    /// The number of closures, and `closed`. Sequentially consistent: it is to the open batch what the push is to the inbox,
    /// see `QueueCore`.
    private let added = Atomic<Int>(0)
    private static let closed = 1 << 32

    /// An open batch of one closure.
    init(_ first: @escaping @Sendable () -> Void, capacity: Int) {
        self.capacity = capacity
        closures = .allocate(capacity: capacity)
        places = closures
        closures.initialize(to: BlockOperation.Block(run: first))
        added.store(1, ordering: .relaxed)
    }

    deinit {
        removeAll()
        closures.deallocate()
    }

    // MARK: Adding

    /// Adds a closure; false if there is no room, or if the batch is closed. Under the entrance's lock.
    @inline(__always)
    func append(_ closure: @escaping @Sendable () -> Void) -> Bool {
        let count = added.load(ordering: .relaxed)
        // A closed one has more than any capacity.
        if count >= capacity { return false }
        (places + count).initialize(to: BlockOperation.Block(run: closure))
        let isCounted = added.compareExchange(
            expected: count, desired: count + 1, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed
        ).exchanged
        // The queue has closed it just now.
        if !isCounted { (places + count).deinitialize(count: 1) }
        return isCounted
    }

    /// Takes no more closures from here on. By any thread that keeps the batch alive.
    func close() { added.bitwiseOr(Self.closed, ordering: .sequentiallyConsistent) }

    var isClosed: Bool { added.load(ordering: .relaxed) & Self.closed != 0 }

    /// How many closures were added. Final once it is closed.
    var count: Int { added.load(ordering: .sequentiallyConsistent) & (Self.closed - 1) }

    // MARK: Taking

    /// Whether no closure is left, at this instant. Under the queue's lock.
    @inline(__always)
    var isEmpty: Bool {
        if taken < seen { return false }
        seen = count
        return taken == seen
    }

    /// The number of the next closure. Under the queue's lock, as is the next.
    var firstSequence: UInt64 { sequence + UInt64(taken) }

    /// The next closure of a batch that is not empty.
    @inline(__always)
    func takeFirst() -> BlockOperation.Block {
        taken += 1
        return (closures + (taken - 1)).move()
    }

    /// Lets go of the closures that are left of a closed batch, which is in no list any more.
    ///
    /// - Returns: how many there were.
    @discardableResult
    func removeAll() -> Int {
        let remaining = count - taken
        (closures + taken).deinitialize(count: remaining)
        taken += remaining
        return remaining
    }
}
