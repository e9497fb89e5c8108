import CLinux
import Synchronization

/// The operations that depend on one operation: their edges, which they own, and at the end either one dependent without
/// an edge, or the operation's own node in a `DependencyGraph`, which has dependents of its own. No thread takes a node
/// out of an open list. If nothing else is in the list, the node's dependents are counted down without the lock, and the
/// list stays open.
///
/// The list is one word: a link to an entry, and two flags. Until its operation has finished, a compare-exchange
/// pushes an edge onto it, and the edges are linked by `older`, from the newest on. Everything else about edges needs
/// the list's *lock*, during which no edge is pushed. To leave the list in constant time, an edge needs its newer
/// neighbour. The newer neighbours are noted when an edge first leaves. Each edge is visited once for that.
///
/// **A dependent without an edge.** If the list is empty and the dependency is the dependent's first, no edge is made.
/// The dependent's address goes into this word, and the dependency's address into the dependent's `DependencyList`. So
/// a chain needs no edges. Nothing is converted when more dependents or dependencies come: their edges are pushed in
/// front. An operation is without an edge in at most one list, once. While it is alone there, one compare-exchange takes
/// it out. If the finishing thread does that, it owns the dependent until it has counted the dependent down, which sets
/// `isReleased` in the same step. The dependent's deinit, and `removeDependency`, take the dependent out themselves or
/// wait for that flag (contract E21). They do not wait for long: between the two steps the finishing thread takes no
/// lock and calls no user code. Behind edges, the lock guards it like an edge. It is the last entry, so a thread that
/// takes it out walks over all edges, but once for a list that was ever empty.
///
/// **Releasing in one batch.** The finishing thread locks the list, reads its edges, counts their dependents down, and
/// *closes* the list, empty, with the unlock. It writes to no edge. An edge is next to its dependent's other edges,
/// which other finishing threads read, so a write would move the cache line between processors.
///
/// **Releasing in several batches.** If the list is longer than a batch, the finishing thread notes the newer
/// neighbours and takes edges out from the oldest on. The word of the closed list points to the oldest one. Between two
/// batches it releases the lock, so that a dependent's deinit does not wait for a million others.
///
/// **When an edge is in the list.** An edge is in the list if it is not marked `unlinked` and the list is not empty. An
/// edge that is taken out alone is marked. Edges that the unlock takes out all at once, leaving the list empty and
/// closed, are not marked. Nothing is pushed onto a closed list, so it stays empty. A thread that uses edges, or
/// dependents whose deinit may be about to run, holds the lock, with an address in the word. So a thread that reads a
/// word without an address, or a mark, comes after all those uses, because both loads acquire what the holder has
/// released. Then it may free the edge. It cannot read the word from before the push, because it learned of the edge
/// after that.
///
/// **No edge is forgotten.** An operation that has no successors when it finishes leaves its list open, because closing
/// it would cost every operation a step. The finishing thread changes the state word and then reads the list. A thread
/// that pushes an edge reads the state word after that. All four are sequentially consistent, so one of the two sees
/// the other. If both do, the edge belongs to the one that locks the list first.
struct SuccessorList: ~Copyable {
    typealias Edge = DependencyEdge.Pointer

    private let word = Atomic<UInt64>(0)

    private static let locked: UInt64 = 2
    /// In a word that is locked.
    private static let hasSleepers: UInt64 = 4
    /// In a word that is not locked. Meanwhile the lock's holder knows it.
    private static let closed: UInt64 = 4
    private static let flags: UInt64 = 6
    private static let spins = 60

    private static func link(_ bits: UInt64) -> DependencyLink { DependencyLink(bits: bits & ~flags) }

    /// Also acquiring: pairs with the exchange of `unlock`, and with later locks, which continue its release sequence.
    @inline(__always)
    var isEmpty: Bool { word.load(ordering: .sequentiallyConsistent) & ~Self.flags == 0 }

    // MARK: A dependent without an edge

    /// Adds a dependent without an edge, or a node. Returns false, with no change, unless the list is empty and open.
    @inline(__always)
    func put(_ entry: DependencyLink) -> Bool {
        guard word.load(ordering: .relaxed) == 0 else { return false }
        // Also releasing: publishes the entry to the finishing thread.
        return word.compareExchange(expected: 0, desired: entry.bits, ordering: .sequentiallyConsistent).exchanged
    }

    /// The node, if nothing else is in the list. Acquiring: pairs with `put`.
    @inline(__always)
    var onlyNode: GraphNode.Pointer? {
        let bits = word.load(ordering: .acquiring)
        return bits & Self.flags == 0 ? DependencyLink(bits: bits).node : nil
    }

    /// Takes out a dependent without an edge that is alone, and closes the list. Called by the finishing thread.
    @inline(__always)
    func takeOnly() -> Unmanaged<Operation>? {
        let bits = word.load(ordering: .relaxed)
        // Acquiring: pairs with `put`. Releasing: a thread that finds the list closed comes after the finish.
        guard bits & Self.flags == 0, let dependent = DependencyLink(bits: bits).operation,
            word.compareExchange(expected: bits, desired: Self.closed, ordering: .acquiringAndReleasing).exchanged
        else { return nil }
        return dependent
    }

    /// Takes out a dependent that was put. Returns false if the finishing thread has taken it.
    func remove(_ dependent: Operation) -> Bool {
        let link = DependencyLink(to: .passUnretained(dependent))
        if word.compareExchange(expected: link.bits, desired: 0, ordering: .relaxed).exchanged { return true }
        if isEmpty { return false }
        var (first, isClosed) = lock()
        var (newer, last) = (Edge?.none, first)
        while let edge = last.edge { (newer, last) = (edge, edge.pointee.older) }
        if last == link {
            if let newer { newer.pointee.older = .none } else { first = .none }
        }
        unlock(leaving: first, isClosed: isClosed)
        return last == link
    }

    // MARK: Edges

    /// Adds an edge. Returns false if the list is closed.
    @inline(__always)
    func push(_ edge: Edge) -> Bool {
        edge.pointee.setNewer(.unknown)
        var bits = word.load(ordering: .relaxed)
        while true {
            if bits & Self.flags != 0 {
                bits = waitWhileLocked()
                if bits & Self.closed != 0 {
                    edge.pointee.setNewer(.unlinked)
                    return false
                }
            }
            edge.pointee.older = DependencyLink(bits: bits)
            // Also releasing: publishes the edge to the thread that locks the list.
            let (exchanged, original) = word.weakCompareExchange(
                expected: bits, desired: DependencyLink(to: edge).bits, successOrdering: .sequentiallyConsistent,
                failureOrdering: .relaxed)
            if exchanged { return true }
            bits = original
        }
    }

    /// Takes out an edge that was pushed, or never linked. Returns false if it is no longer in the list, in most cases
    /// without the lock.
    @inline(__always)
    func remove(_ edge: Edge) -> Bool {
        if edge.pointee.isUnlinked || isEmpty { return false }
        return removeLocking(edge)
    }

    @inline(never)
    private func removeLocking(_ edge: Edge) -> Bool {
        var (first, isClosed) = lock()
        // It may have been taken out in the meantime.
        let isLinked = first != .none && !edge.pointee.isUnlinked
        if isLinked {
            if !isClosed, let first = first.edge { Self.noteNewer(from: first) }
            let (newer, older) = (edge.pointee.newer, edge.pointee.older)
            older.edge?.pointee.setNewer(newer)
            if case .edge(let newer) = newer {
                newer.pointee.older = older
                if isClosed, older == .none { first = DependencyLink(to: newer) }
            } else if !isClosed || older == .none {
                first = isClosed ? .none : older
            }
            edge.pointee.setNewer(.unlinked)
        }
        unlock(leaving: first, isClosed: isClosed)
        return isLinked
    }

    /// Notes the newer neighbours of the edges that do not have them yet.
    private static func noteNewer(from newest: Edge) {
        newest.pointee.setNewer(.none)
        var newer = newest
        while let older = newer.pointee.older.edge {
            let isKnown = older.pointee.newer != .unknown
            older.pointee.setNewer(.edge(newer))
            if isKnown { return }
            newer = older
        }
    }

    /// Notes the newer neighbours in a locked list that is not closed yet. Returns the oldest edge.
    @inline(never)
    static func oldest(from newest: Edge) -> Edge {
        newest.pointee.setNewer(.none)
        var last = newest
        while let older = last.pointee.older.edge {
            older.pointee.setNewer(.edge(last))
            last = older
        }
        return last
    }

    /// Locks the closed list again after a pause. Returns the oldest edge.
    func lockClosed() -> Edge? { lock().first.edge }

    // MARK: The lock

    @inline(__always)
    func lock() -> (first: DependencyLink, isClosed: Bool) {
        var bits = word.load(ordering: .relaxed)
        while true {
            if bits & Self.locked != 0 { bits = waitWhileLocked() }
            // Acquiring: pairs with the pushes, and with the exchange of `unlock`.
            let (exchanged, original) = word.weakCompareExchange(
                expected: bits, desired: Self.link(bits).bits | Self.locked, successOrdering: .acquiring,
                failureOrdering: .relaxed)
            if exchanged { return (Self.link(bits), bits & Self.closed != 0) }
            bits = original
        }
    }

    @inline(__always)
    func unlock(leaving first: DependencyLink, isClosed: Bool) {
        let bits = first.bits | (isClosed ? Self.closed : 0)
        if word.exchange(bits, ordering: .releasing) & Self.hasSleepers != 0 { Futex.wakeAllOnLowHalf(of: word) }
    }

    /// Spins, then sleeps, until the list is not locked. Returns the word. Acquiring: a thread that finds the list
    /// closed comes after the finish.
    @inline(never)
    private func waitWhileLocked() -> UInt64 {
        for _ in 0..<Self.spins {
            let bits = word.load(ordering: .acquiring)
            if bits & Self.locked == 0 { return bits }
            clinux_spin_hint()
        }
        ForkedChild.endIfOne()
        while true {
            let bits = word.load(ordering: .acquiring)
            if bits & Self.locked == 0 { return bits }
            // The unlocking thread finds the flag and wakes this one, or it has unlocked before and the exchange fails.
            let announced = bits | Self.hasSleepers
            if word.compareExchange(expected: bits, desired: announced, ordering: .relaxed).exchanged {
                Futex.waitOnLowHalf(of: word, expected: announced, timeoutNanoseconds: -1)
            }
        }
    }
}
