import CLinux
import Synchronization

/// The edges of the operations that depend on one operation. Owned by the dependents.
///
/// The list is one word: the address of an edge, and three flags. Until its operation has finished, a compare-exchange
/// pushes an edge onto it, and the edges are linked by `older`, from the newest on. Everything else needs the list's
/// *lock*, during which no edge is pushed. To leave the list in constant time, an edge needs its newer neighbour. The
/// newer neighbours are noted when an edge first leaves. Each edge is visited once for that.
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

    private static let locked: UInt64 = 1
    private static let hasSleepers: UInt64 = 2
    private static let closed: UInt64 = 4
    private static let flags: UInt64 = 7
    private static let spins = 60

    private static func edge(_ bits: UInt64) -> Edge? { Edge(bitPattern: UInt(bits & ~flags)) }
    private static func bits(_ edge: Edge?) -> UInt64 { UInt64(UInt(bitPattern: edge)) }

    /// Also acquiring: pairs with the exchange of `unlock`, and with later locks, which continue its release sequence.
    @inline(__always)
    var isEmpty: Bool { word.load(ordering: .sequentiallyConsistent) & ~Self.flags == 0 }

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
            edge.pointee.older = Self.edge(bits)
            // Also releasing: publishes the edge to the thread that locks the list.
            let (exchanged, original) = word.weakCompareExchange(
                expected: bits, desired: Self.bits(edge), successOrdering: .sequentiallyConsistent,
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
        let isLinked = first != nil && !edge.pointee.isUnlinked
        if isLinked {
            if !isClosed, let first { Self.noteNewer(from: first) }
            let (newer, older) = (edge.pointee.newer, edge.pointee.older)
            older?.pointee.setNewer(newer)
            if case .edge(let newer) = newer {
                newer.pointee.older = older
                if isClosed, older == nil { first = newer }
            } else if !isClosed || older == nil {
                first = isClosed ? nil : older
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
        while let older = newer.pointee.older {
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
        while let older = last.pointee.older {
            older.pointee.setNewer(.edge(last))
            last = older
        }
        return last
    }

    /// Locks the closed list again after a pause. Returns the oldest edge.
    func lockClosed() -> Edge? { lock().first }

    // MARK: The lock

    @inline(__always)
    func lock() -> (first: Edge?, isClosed: Bool) {
        var bits = word.load(ordering: .relaxed)
        while true {
            if bits & Self.locked != 0 { bits = waitWhileLocked() }
            // Acquiring: pairs with the pushes, and with the exchange of `unlock`.
            let (exchanged, original) = word.weakCompareExchange(
                expected: bits, desired: bits | Self.locked, successOrdering: .acquiring, failureOrdering: .relaxed)
            if exchanged { return (Self.edge(bits), bits & Self.closed != 0) }
            bits = original
        }
    }

    @inline(__always)
    func unlock(leaving first: Edge?, isClosed: Bool) {
        let bits = Self.bits(first) | (isClosed ? Self.closed : 0)
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
