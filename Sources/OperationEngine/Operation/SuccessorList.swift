import CLinux
import Synchronization

/// The edges of the operations that depend on one operation. Owned by the dependents.
///
/// One word: the address of an edge, and three flags. Until its operation has finished, edges are pushed onto the list by
/// one compare-exchange, and it is linked by `older`, from the newest on. Whatever else is done with the list is done by
/// who has *locked* it; nobody pushes meanwhile. The newer neighbours, which an edge needs to leave the list in constant
/// time, are written down when one first leaves: each edge is walked over once for that.
///
/// **Released in one batch.** The finishing thread locks the list, reads its edges, counts their dependents down, and
/// *closes* it, empty, with the unlock. It writes no edge: an edge lies beside its dependent's others, which other
/// finishing threads read, and the line of the cache would go from one processor to the next.
///
/// **Released in several.** If the list is longer than a batch, it writes the newer neighbours down and takes edges out
/// from the oldest on, which is where the closed list's word points. It lets go of the lock between two batches, so that
/// a dependent's deinit does not wait for a million others.
///
/// **In the list** is an edge that does not say `unlinked`, as long as the list is not empty. What is taken out alone says
/// so; what is taken out by the unlock that leaves the list empty and closed does not, and nothing is pushed later that
/// could make the list look as if that were still there. Who uses edges, or a dependent that may be on its way to its
/// deinit, has locked the list while its word has an address. So whoever reads a word without an address, or that an
/// edge is unlinked, in both cases acquiring what the holder has released, comes after all those uses and may free the
/// edge. It cannot be the word from before the push: whoever asks for an edge comes after that.
///
/// **No edge is forgotten.** An operation that has no successors when it finishes leaves the list open: closing it would
/// cost every operation a step. The finishing thread changes the state word and then looks at the list; who pushes an edge
/// then looks at the state word. All four are sequentially consistent, so one of the two sees the other; if both do, the edge
/// is the one's who locks the list first.
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

    /// Acquiring too: pairs with the exchange of `unlock`, and with the locks since, which go on with what that released.
    @inline(__always)
    var isEmpty: Bool { word.load(ordering: .sequentiallyConsistent) & ~Self.flags == 0 }

    /// Adds an edge. False if the list is closed.
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
            // Releasing, among other things: publishes the edge to who locks the list.
            let (exchanged, original) = word.weakCompareExchange(
                expected: bits, desired: Self.bits(edge), successOrdering: .sequentiallyConsistent,
                failureOrdering: .relaxed)
            if exchanged { return true }
            bits = original
        }
    }

    /// Takes an edge out that was pushed, or never linked. False if it is in the list no more; then mostly without a lock.
    @inline(__always)
    func remove(_ edge: Edge) -> Bool {
        if edge.pointee.isUnlinked || isEmpty { return false }
        return removeLocking(edge)
    }

    @inline(never)
    private func removeLocking(_ edge: Edge) -> Bool {
        var (first, isClosed) = lock()
        // It may have been taken out since.
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

    /// Writes the newer neighbours down, of those edges where they are not known.
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

    /// Of a locked list that nobody has closed yet: writes the newer neighbours down. The oldest edge.
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

    /// Locks the list again after a pause. The oldest edge.
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

    /// Spins, then sleeps, until the list is not locked. The word. Acquiring: who finds the list closed comes after the
    /// finish.
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
            // Who unlocks finds the flag, and wakes; or has unlocked before, and the exchange fails.
            let announced = bits | Self.hasSleepers
            if word.compareExchange(expected: bits, desired: announced, ordering: .relaxed).exchanged {
                Futex.waitOnLowHalf(of: word, expected: announced, timeoutNanoseconds: -1)
            }
        }
    }
}
