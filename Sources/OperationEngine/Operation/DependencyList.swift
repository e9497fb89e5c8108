import Synchronization

/// The edges to the operations that one operation depends on, latest first. Owned by that operation.
///
/// Any thread pushes an edge without a lock, after it has counted it. Everything else is done under the operation's
/// `lock`, which keeps the edges in the list from being freed. A push changes only the head. So a thread that removes
/// an edge has to allow for pushes only if that edge is the first. If the head has the same value again, the same edge
/// is the first again, with no newer one before it. So there is no ABA problem.
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

    /// Takes out an edge that came after `newer` when the caller walked the list; nil if it was the first then.
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

    /// Takes all edges, in the operation's deinit.
    func takeAll() -> Edge? {
        let all = first
        head.store(nil, ordering: .relaxed)
        return all
    }
}
