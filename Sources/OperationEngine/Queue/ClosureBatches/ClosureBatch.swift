import Synchronization

/// Closures that were added to a queue one after another, without an operation object for each.
///
/// For its queue a batch is one ready item of normal priority. It goes through the inbox and is in a list, as an
/// operation is. A runner for which it is chosen takes its first closure. Closures get objects only when someone asks
/// for the queue's operations.
///
/// An *open* batch still takes closures. Something that has to come behind these closures *closes* the batch first: an
/// operation that is added or becomes ready at the same level, or a barrier. A batch in a list has closures. The open
/// batch is set aside by its queue (`QueueState.lastBatch`) while it has none.
///
/// **Ownership.** A place in `closures` belongs to the adding thread, under the entrance's lock, until `added` counts
/// it. From then on it belongs to the holder of the queue's lock. The queue retains the batch until the batch is empty
/// and no longer the queue's last one. The entrance retains it while closures may be added to it.
///
/// **Closing takes no lock.** An adding thread counts its closure by a compare-exchange of `added`, and a closing
/// thread sets a bit of the same word. So of two such threads, either the closure is counted before the batch is
/// closed, or the adding thread finds it closed.
final class ClosureBatch: @unchecked Sendable {
    private let liveMark = LiveMark(.closureBatch)
    // The batch's links and place in its queue, as an operation has them. Guarded by the queue's lock. `next` belongs
    // to the adding thread until it pushes the batch into the inbox.
    @exclusivity(unchecked) var next: ReadyItem?
    @exclusivity(unchecked) var previous: ReadyItem?
    @exclusivity(unchecked) var place = ListPlace.none
    /// The number of the first closure; those of the others follow it. Written when the batch is admitted.
    @exclusivity(unchecked) var sequence: UInt64 = 0

    /// How many closures were taken, and in `seen` the count that was last read from `added`. Both are guarded by the
    /// queue's lock.
    @exclusivity(unchecked) private var taken = 0
    @exclusivity(unchecked) private var seen = 0
    /// The same memory as `places`, for the side that takes.
    private let closures: UnsafeMutablePointer<BlockOperation.Block>
    /// Whether its closures are released without being called. Such a batch is closed. Guarded by the queue's lock.
    @exclusivity(unchecked) var isCancelled = false

    private let padding = CacheLine()
    let capacity: Int
    /// The same memory as `closures`, for the side that adds.
    private let places: UnsafeMutablePointer<BlockOperation.Block>
    /// The number of closures, and the bit `closed`. Sequentially consistent, because it is for the open batch what the
    /// push is for the inbox: see `QueueCore`.
    private let added = Atomic<Int>(0)
    private static let closed = 1 << 32

    /// An open batch with one closure.
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

    /// Adds a closure. Returns false if there is no room, or if the batch is closed. Under the entrance's lock.
    @inline(__always)
    func append(_ closure: @escaping @Sendable () -> Void) -> Bool {
        let count = added.load(ordering: .relaxed)
        // In a closed batch the bit makes this more than any capacity.
        if count >= capacity { return false }
        (places + count).initialize(to: BlockOperation.Block(run: closure))
        let isCounted = added.compareExchange(
            expected: count, desired: count + 1, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed
        ).exchanged
        // The batch was closed at this moment.
        if !isCounted { (places + count).deinitialize(count: 1) }
        return isCounted
    }

    /// Makes the batch take no more closures. Called by any thread that keeps it alive.
    func close() { added.bitwiseOr(Self.closed, ordering: .sequentiallyConsistent) }

    var isClosed: Bool { added.load(ordering: .relaxed) & Self.closed != 0 }

    /// How many closures were added. Final once the batch is closed.
    var count: Int { added.load(ordering: .sequentiallyConsistent) & (Self.closed - 1) }

    // MARK: Taking

    /// Whether no closure is left at this instant. Under the queue's lock.
    @inline(__always)
    var isEmpty: Bool {
        if taken < seen { return false }
        seen = count
        return taken == seen
    }

    /// The number of the next closure. Under the queue's lock, as `takeFirst`.
    var firstSequence: UInt64 { sequence + UInt64(taken) }

    /// The next closure of a batch that is not empty.
    @inline(__always)
    func takeFirst() -> BlockOperation.Block {
        taken += 1
        return (closures + (taken - 1)).move()
    }

    /// Releases the closures that are left. The batch is closed and in no list.
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
