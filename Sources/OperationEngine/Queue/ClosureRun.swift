import Synchronization

/// Closures that were added to a queue one after the other, without an operation object for each.
///
/// To its queue a run is one ready operation of normal priority: it goes through the inbox and stands in a list like any
/// other, and who chooses it takes its first closure. Objects are made of the closures only if somebody asks for the
/// queue's operations.
///
/// The *open* run is the one that still takes closures. Something that has to come behind those closures *closes* it
/// first: another operation that is added, or becomes ready at the same level, or a barrier. A run that is listed has
/// closures; the open one is set aside by its queue (`QueueState.lastRun`) while it has none.
///
/// **Who owns what.** A place of `closures` belongs to the adding thread, under the entrance's lock, until `added` counts
/// it, and from there on to whoever holds the queue's lock.
final class ClosureRun: Operation, @unchecked Sendable {
    /// Guarded by the queue's lock, as is `seen`: the latest look at `added`.
    @exclusivity(unchecked) private(set) var taken = 0
    @exclusivity(unchecked) private var seen = 0
    /// The same places as `places`: for who takes.
    private let closures: UnsafeMutablePointer<BlockOperation.Block>
    /// Whether its closures are to be let go of, without being called. Then it is closed. Guarded by the queue's lock.
    @exclusivity(unchecked) var isCancelledRun = false

    private let padding = CacheLine()
    let capacity: Int
    /// The same places as `closures`: for who adds.
    private let places: UnsafeMutablePointer<BlockOperation.Block>
    /// Written under the entrance's lock. Sequentially consistent: it is to the open run what the push is to the inbox,
    /// see `QueueCore`.
    private let added = Atomic<Int>(0)

    /// A run of one closure.
    init(_ first: @escaping @Sendable () -> Void, capacity: Int) {
        self.capacity = capacity
        closures = .allocate(capacity: capacity)
        places = closures
        closures.initialize(to: BlockOperation.Block(run: first))
        added.store(1, ordering: .relaxed)
    }

    deinit {
        (closures + taken).deinitialize(count: remaining)
        closures.deallocate()
    }

    /// Adds a closure; false if there is no room. Under the entrance's lock.
    @inline(__always)
    func append(_ closure: @escaping @Sendable () -> Void) -> Bool {
        let place = added.load(ordering: .relaxed)
        if place == capacity { return false }
        (places + place).initialize(to: BlockOperation.Block(run: closure))
        added.store(place + 1, ordering: .sequentiallyConsistent)
        return true
    }

    /// Whether no closure is left, at this instant. Under the queue's lock.
    @inline(__always)
    var isEmpty: Bool {
        if taken < seen { return false }
        seen = added.load(ordering: .sequentiallyConsistent)
        return taken == seen
    }

    /// The next closure of a run that is not empty. Under the queue's lock.
    @inline(__always)
    func takeFirst() -> BlockOperation.Block {
        taken += 1
        return (closures + (taken - 1)).move()
    }

    /// The closures that are left of a closed run. Under the queue's lock.
    var remaining: Int { used - taken }

    /// How many closures were added to this run. Final once it is closed; before, only under the entrance's lock.
    var used: Int { added.load(ordering: .relaxed) }

    /// The run behind a link of a list, if it is one.
    @inline(__always)
    static func from(_ link: Unmanaged<Operation>) -> Unmanaged<ClosureRun>? {
        link._withUnsafeGuaranteedRef { $0.isClosureRun } ? Unmanaged.fromOpaque(link.toOpaque()) : nil
    }
}

extension Operation {
    /// Whether this stands for a run of closures: one comparison of the object's class.
    @inline(__always)
    final var isClosureRun: Bool { type(of: self) == ClosureRun.self }
}
