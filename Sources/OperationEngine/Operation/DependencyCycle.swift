extension OperationQueue {
    /// Finds operations that depend on each other in a cycle, and so never become ready (contract E15).
    ///
    /// It follows the dependencies of the given operations as far as they hold something back. It does not follow
    /// finished dependencies, nor those of an operation that is cancelled or has begun. It takes time proportional to
    /// the graph, and works for any number of operations.
    ///
    /// From any thread. It reads each operation's dependencies in one step, one operation after another. If other
    /// threads change them at the same time, it may find a cycle that never existed at one instant.
    ///
    /// - Returns: the members of one cycle. Each depends on the next, and the last one on the first. Nil if there is
    ///   none.
    public static func dependencyCycle(among operations: [Operation]) -> [Operation]? {
        var search = DependencySearch()
        guard case .cycle(let path, let start) = search.deadEnd(from: operations) else { return nil }
        return Array(path[start...])
    }
}

/// A depth-first search along dependencies, without recursion, for a point where nothing goes on.
struct DependencySearch {
    enum DeadEnd {
        /// Each operation of the path depends on the next, and the last one on the one at `start`.
        case cycle(path: [Operation], start: Int)
        /// The last operation of the path is one that was searched for.
        case hopeless(path: [Operation])
    }

    /// An operation on the current path, and its dependencies that are still to be visited.
    private struct Step {
        let operation: Operation
        var rest: [Operation]
    }

    /// An operation by its identity, whatever its class does in `isEqual` and `hash`. Keeps it alive.
    private struct Identity: Hashable {
        let operation: Operation

        static func == (left: Identity, right: Identity) -> Bool { left.operation === right.operation }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(operation)) }
    }

    /// Whether the search skips operations that override `isReady`, because their dependencies may not hold them back.
    var asksForCertainty = false
    /// The number of operations after which the search gives up.
    var mostVisited = Int.max
    /// The dependencies that the search has found and retains, if it has such a bound.
    private(set) var found: [Operation] = []
    /// The position on the path of each operation visited, or that nothing was found behind it.
    private var places: [Identity: Int] = [:]
    private static let nothingBehind = -1

    /// The first dead end on the paths from `roots`, in their order; nil if there is none.
    mutating func deadEnd(from roots: [Operation], isHopeless: (Operation) -> Bool = { _ in false }) -> DeadEnd? {
        for root in roots where places[Identity(operation: root)] == nil {
            var way: [Step] = []
            var next: Operation? = root
            while true {
                if let operation = next {
                    if isHopeless(operation) { return .hopeless(path: way.map(\.operation) + [operation]) }
                    if places.count >= mostVisited { return nil }
                    places[Identity(operation: operation)] = way.count
                    way.append(Step(operation: operation, rest: dependencies(holdingBack: operation)))
                }
                guard let last = way.indices.last else { break }
                next = way[last].rest.popLast()
                if next == nil { places[Identity(operation: way.removeLast().operation)] = Self.nothingBehind }
                if let operation = next, let place = places[Identity(operation: operation)] {
                    if place != Self.nothingBehind { return .cycle(path: way.map(\.operation), start: place) }
                    next = nil
                }
            }
        }
        return nil
    }

    private mutating func dependencies(holdingBack operation: Operation) -> [Operation] {
        if asksForCertainty, MethodOverride.isReady.isPresent(in: operation) { return [] }
        let room = mostVisited - found.count
        let dependencies = operation.lock.withLock { operation.dependenciesHoldingBack(atMost: room) }
        if mostVisited < .max { found += dependencies }
        return dependencies
    }
}

extension Operation {
    /// Whether it has not begun and is not cancelled. Then its dependencies hold it back, if it has any.
    var isPending: Bool {
        let word = state.load()
        return word.phase.rawValue < OperationState.Phase.dispatched.rawValue && !word.isCancelled
    }

    /// The unfinished dependencies, latest first, if the operation waits for them. Under `lock`.
    fileprivate func dependenciesHoldingBack(atMost count: Int) -> [Operation] {
        guard isPending else { return [] }
        let found = dependencyEdges.all.lazy.map { $0.takeUnretainedValue() }.filter { !$0.state.load().isFinished }
        return Array(found.prefix(count))
    }

    /// Whether `dependency` is unfinished and the operation waits for it. Under `lock`.
    func isHeldBy(_ dependency: Operation) -> Bool {
        guard isPending, !dependency.state.load().isFinished else { return false }
        return dependencyEdges.all.contains { $0.toOpaque() == Unmanaged.passUnretained(dependency).toOpaque() }
    }
}
