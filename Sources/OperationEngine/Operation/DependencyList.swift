import Synchronization

/// The edges to the operations that one operation depends on, latest first. Owned by it.
///
/// Any thread pushes without a lock; an edge that is in the list has been counted, if it counts. Everything else is done
/// under the operation's `lock`, which keeps the edges that are there from being freed. Those who push change nothing but
/// the head, so who removes an edge has to see to them only where that edge comes first. A head that is the same again
/// is the first edge again, and has nothing newer before it: there is no ABA problem.
struct DependencyList: ~Copyable {
    typealias Edge = DependencyEdge.Pointer

    private let head = Atomic<UnsafeMutableRawPointer?>(nil)

    /// Acquiring: pairs with the push.
    @inline(__always)
    var first: Edge? { head.load(ordering: .acquiring)?.assumingMemoryBound(to: DependencyEdge.self) }

    @inline(__always)
    func push(_ edge: Edge) {
        var current = head.load(ordering: .relaxed)
        while true {
            edge.pointee.nextOfDependent = current?.assumingMemoryBound(to: DependencyEdge.self)
            let (exchanged, original) = head.weakCompareExchange(
                expected: current, desired: UnsafeMutableRawPointer(edge), successOrdering: .releasing,
                failureOrdering: .relaxed)
            if exchanged { return }
            current = original
        }
    }

    /// Takes out an edge, which came after `newer` when the caller walked here; nil if it was the first then.
    func remove(_ edge: Edge, after newer: Edge?) {
        let older = edge.pointee.nextOfDependent
        var newer = newer
        if newer == nil {
            let (exchanged, _) = head.compareExchange(
                expected: UnsafeMutableRawPointer(edge), desired: older.map { UnsafeMutableRawPointer($0) },
                ordering: .acquiringAndReleasing)
            if exchanged { return }
            newer = first
            while let next = newer?.pointee.nextOfDependent, next != edge { newer = next }
        }
        newer?.pointee.nextOfDependent = older
    }

    /// In the operation's deinit.
    func takeAll() -> Edge? {
        let all = first
        head.store(nil, ordering: .relaxed)
        return all
    }
}
