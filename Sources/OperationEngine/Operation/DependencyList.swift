import CLinux
import Synchronization

/// The operations that one operation depends on, latest first: edges, which that operation owns, and at the end either
/// one dependency without an edge, which it retains, or its node in a `DependencyGraph`.
///
/// Any thread adds to the list without a lock, after it has counted the dependency. Everything else is done under the
/// operation's `lock`, which keeps the edges in the list from being freed. A push changes only the head. So a thread
/// that removes an entry has to allow for pushes only if that entry is the first. If the head has the same value again,
/// the same entry is the first again, with no newer one before it. So there is no ABA problem.
///
/// **The first entry.** The thread whose step has set `hasDependencies` in the state word adds it, by a store. Until
/// then the head is 0, and others wait. From then on it is not 0: `end` marks the end.
struct DependencyList: ~Copyable {
    typealias Edge = DependencyEdge.Pointer

    private let head = Atomic<UInt64>(0)

    /// Acquiring: pairs with `begin` and the pushes.
    @inline(__always)
    var first: DependencyLink { DependencyLink(bits: head.load(ordering: .acquiring)) }

    @inline(__always)
    var all: Entries { Entries(link: first) }

    /// Adds the first entry, without an edge. Takes over a reference to the dependency, or to the node's block.
    @inline(__always)
    func begin(with entry: DependencyLink) { head.store(entry.bits, ordering: .releasing) }

    @inline(__always)
    func push(_ edge: Edge, isFirst: Bool) {
        if isFirst { return head.store(DependencyLink(to: edge).bits, ordering: .releasing) }
        var current = head.load(ordering: .relaxed)
        while true {
            if current == 0 { current = waitForFirst() }
            edge.pointee.nextOfDependent = DependencyLink(bits: current)
            let (exchanged, original) = head.weakCompareExchange(
                expected: current, desired: DependencyLink(to: edge).bits, successOrdering: .releasing,
                failureOrdering: .relaxed)
            if exchanged { return }
            current = original
        }
    }

    /// Waits only while another thread, which calls no user code meanwhile, links the first dependency.
    @inline(never)
    private func waitForFirst() -> UInt64 {
        while true {
            let bits = head.load(ordering: .relaxed)
            if bits != 0 { return bits }
            ForkedChild.endIfOne()
            sched_yield()
        }
    }

    /// Takes out an entry that came after `newer` when the caller walked the list; nil if it was the first then.
    func remove(_ link: DependencyLink, after newer: Edge?) {
        let older = link.edge?.pointee.nextOfDependent ?? .end
        var newer = newer
        if newer == nil {
            let (exchanged, _) = head.compareExchange(
                expected: link.bits, desired: older.bits, ordering: .acquiringAndReleasing)
            if exchanged { return }
            newer = first.edge
            while let next = newer?.pointee.nextOfDependent, next != link { newer = next.edge }
        }
        newer?.pointee.nextOfDependent = older
    }

    /// The dependencies, for a thread that has locked the operation.
    struct Entries: Sequence, IteratorProtocol {
        fileprivate(set) var link: DependencyLink
        /// How many of the node's dependencies are still to come, once the link is a node.
        private var rest: Int?

        fileprivate init(link: DependencyLink) { self.link = link }

        @inline(__always)
        mutating func next() -> Unmanaged<Operation>? {
            if let node = link.node { return next(of: node) }
            defer { link = link.edge?.pointee.nextOfDependent ?? .end }
            return link.edge?.pointee.dependency ?? link.operation
        }

        @inline(never)
        private mutating func next(of node: GraphNode.Pointer) -> Unmanaged<Operation>? {
            let dependencies = node.pointee.dependencies
            var place = rest ?? dependencies.count
            defer { rest = place }
            while place > 0 {
                place -= 1
                if let dependency = dependencies[place] { return dependency }
            }
            return nil
        }
    }

    /// The node at the end of the list.
    var node: GraphNode.Pointer? {
        var link = first
        while let edge = link.edge { link = edge.pointee.nextOfDependent }
        return link.node
    }
}
