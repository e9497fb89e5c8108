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
    /// A struct around the closure: one by itself costs an allocation whenever a generic function has to do with it.
    struct Closure {
        let call: @Sendable () -> Void
    }

    let capacity: Int
    private let closures: UnsafeMutablePointer<Closure>
    /// Written under the entrance's lock. Sequentially consistent: it is to the open run what the push is to the inbox,
    /// see `QueueCore`.
    private let added = Atomic<Int>(0)
    /// Guarded by the queue's lock, as is `seen`: the latest look at `added`.
    @exclusivity(unchecked) private(set) var taken = 0
    @exclusivity(unchecked) private var seen = 0
    /// Whether its closures are to be let go of, without being called. Then it is closed. Guarded by the queue's lock.
    @exclusivity(unchecked) var isCancelledRun = false

    /// A run of one closure.
    init(_ first: @escaping @Sendable () -> Void, capacity: Int) {
        self.capacity = capacity
        closures = .allocate(capacity: capacity)
        closures.initialize(to: Closure(call: first))
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
        (closures + place).initialize(to: Closure(call: closure))
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
    func takeFirst() -> Closure {
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

/// Where closures enter a queue.
///
/// Adding threads take `lock` one after another for some nanoseconds. Taken inside the queue's lock by who closes the
/// open run, never the other way round.
struct ClosureEntrance: ~Copyable {
    let lock = FutexLock()
    /// The open run, not retained: the queue releases no run that is open. Written under `lock`.
    private let openRun = Atomic<UnsafeMutableRawPointer?>(nil)
    /// All closures that were ever added. Written under `lock`, before the closure is there.
    private let total = Atomic<Int>(0)
    /// Whether closures are counted among the queue's unfinished operations, as one unit for all. Written under `lock`.
    private let isCounted = Atomic<Bool>(false)
    /// Closures of the next run. Guarded by `lock`.
    private let nextCapacity = Atomic<Int>(smallestCapacity)
    /// How many closures are to be added as objects, since the runs have been short. A mere hint.
    private let objectsFirst = Atomic<Int>(0)

    private static let smallestCapacity = 8
    private static let largestCapacity = 128
    /// A run that was closed with fewer closures did not pay.
    private static let fewClosures = 3
    private static let objectsAfterFew = 32

    /// Closures added so far, for who has finished as many.
    var addedCount: Int { total.load(ordering: .sequentiallyConsistent) }
    /// A look without the lock, for who has ended a closure, and therefore sees that it was counted.
    var mayBeCounted: Bool { isCounted.load(ordering: .relaxed) }
    var hasOpenRun: Bool { openRun.load(ordering: .acquiring) != nil }

    /// Whether the next closure is to be an object, among the operations between which it is added.
    @inline(__always)
    func takesObject() -> Bool {
        let left = objectsFirst.load(ordering: .relaxed)
        if left == 0 { return false }
        objectsFirst.store(left - 1, ordering: .relaxed)
        return true
    }

    /// Counts a closure. True if closures have to be counted as unfinished from here on. Under `lock`.
    @inline(__always)
    func countIn() -> Bool {
        total.store(total.load(ordering: .relaxed) + 1, ordering: .sequentiallyConsistent)
        if isCounted.load(ordering: .relaxed) { return false }
        isCounted.store(true, ordering: .relaxed)
        return true
    }

    /// Ends the counting if no more than `ended` closures were ever added. True if it has ended now.
    func endCounting(_ ended: Int) -> Bool {
        lock.withLock {
            guard isCounted.load(ordering: .relaxed), total.load(ordering: .relaxed) == ended else { return false }
            isCounted.store(false, ordering: .relaxed)
            return true
        }
    }

    /// The open run. Under `lock`.
    @inline(__always)
    var open: Unmanaged<ClosureRun>? {
        openRun.load(ordering: .relaxed).map { Unmanaged<ClosureRun>.fromOpaque($0) }
    }

    /// Makes a run of one closure the open one. Under `lock`.
    func openRun(for closure: @escaping @Sendable () -> Void) -> ClosureRun {
        let capacity = nextCapacity.load(ordering: .relaxed)
        // A run that was not closed is full.
        nextCapacity.store(min(capacity * 2, Self.largestCapacity), ordering: .relaxed)
        let run = ClosureRun(closure, capacity: capacity)
        openRun.store(Unmanaged.passUnretained(run).toOpaque(), ordering: .releasing)
        return run
    }

    /// Closes the open run, since an operation was added behind it.
    @inline(never)
    func closeOpenRun() {
        lock.withLock {
            guard let run = open?.takeUnretainedValue() else { return }
            close(run)
            if run.used < Self.fewClosures { objectsFirst.store(Self.objectsAfterFew, ordering: .relaxed) }
        }
    }

    /// Closes a run, unless it is closed already.
    func closeIfOpen(_ run: ClosureRun) {
        lock.withLock {
            if open?.toOpaque() == Unmanaged.passUnretained(run).toOpaque() { close(run) }
        }
    }

    private func close(_ run: ClosureRun) {
        openRun.store(nil, ordering: .releasing)
        nextCapacity.store(min(max(run.used, Self.smallestCapacity), Self.largestCapacity), ordering: .relaxed)
    }
}
