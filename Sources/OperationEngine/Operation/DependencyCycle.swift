extension OperationQueue {
    /// Finds operations that depend on each other in a circle, and so never become ready (contract E15).
    ///
    /// Looked at are the given operations and, on from them, all dependencies that still hold something back: not those
    /// that are finished, nor those of an operation that is cancelled or has begun. Takes time proportional to the
    /// graph, and works for any number of operations.
    ///
    /// From any thread. Every operation's dependencies are read in one step, one operation after another: where other
    /// threads change them meanwhile, the circle may be one that was never closed at any instant.
    ///
    /// - Returns: the members of one circle, each of which depends on the next, and the last on the first; nil if
    ///   there is none.
    public static func dependencyCycle(among operations: [Operation]) -> [Operation]? {
        var search = DependencySearch()
        guard case .circle(let path, let start) = search.deadEnd(from: operations) else { return nil }
        return Array(path[start...])
    }
}

/// A walk along dependencies, depth first and without recursion, that ends where there is no getting on.
struct DependencySearch {
    enum DeadEnd {
        /// Each of the path depends on the next, and the last on the one at `start`.
        case circle(path: [Operation], start: Int)
        /// The last one of the path is one that was looked for.
        case hopeless(path: [Operation])
    }

    /// The operation that is on the way, and those of its dependencies that are still to be looked at.
    private struct Step {
        let operation: Operation
        var rest: [Operation]
    }

    /// An operation as what it is, whatever its class makes of `isEqual` and `hash`. Keeps it alive.
    private struct Identity: Hashable {
        let operation: Operation

        static func == (left: Identity, right: Identity) -> Bool { left.operation === right.operation }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(operation)) }
    }

    /// Whether an operation that overrides `isReady`, and may go its own way, is passed by.
    var asksForCertainty = false
    /// Where each operation seen stands on the way, or that nothing was found behind it.
    private var places: [Identity: Int] = [:]
    private static let nothingBehind = -1

    /// The first dead end on the ways from `roots`, in their order; nil if there is none.
    mutating func deadEnd(from roots: [Operation], isHopeless: (Operation) -> Bool = { _ in false }) -> DeadEnd? {
        for root in roots where places[Identity(operation: root)] == nil {
            var way: [Step] = []
            var next: Operation? = root
            while true {
                if let operation = next {
                    if isHopeless(operation) { return .hopeless(path: way.map(\.operation) + [operation]) }
                    places[Identity(operation: operation)] = way.count
                    way.append(Step(operation: operation, rest: dependencies(holdingBack: operation)))
                }
                guard let last = way.indices.last else { break }
                next = way[last].rest.popLast()
                if next == nil { places[Identity(operation: way.removeLast().operation)] = Self.nothingBehind }
                if let operation = next, let place = places[Identity(operation: operation)] {
                    if place != Self.nothingBehind { return .circle(path: way.map(\.operation), start: place) }
                    next = nil
                }
            }
        }
        return nil
    }

    private func dependencies(holdingBack operation: Operation) -> [Operation] {
        if asksForCertainty, MethodOverride.isReady.isPresent(in: operation) { return [] }
        return operation.lock.withLock { operation.dependenciesHoldingBack }
    }
}

extension Operation {
    /// Not begun and not cancelled: its dependencies hold it back, if it has any.
    var isPending: Bool {
        let word = state.load()
        return word.phase.rawValue < OperationState.Phase.dispatched.rawValue && !word.isCancelled
    }

    /// The unfinished dependencies, latest first, if the operation waits for them. Under `lock`.
    fileprivate var dependenciesHoldingBack: [Operation] {
        guard isPending else { return [] }
        var found: [Operation] = []
        var edge = dependencyEdges.first
        while let current = edge {
            let dependency = current.pointee.dependency.takeUnretainedValue()
            if !dependency.state.load().isFinished { found.append(dependency) }
            edge = current.pointee.nextOfDependent
        }
        return found
    }

    /// Whether the operation waits for that unfinished dependency. Under `lock`.
    func isHeldBy(_ dependency: Operation) -> Bool {
        guard isPending, !dependency.state.load().isFinished else { return false }
        var edge = dependencyEdges.first
        while let current = edge {
            if current.pointee.dependency.toOpaque() == Unmanaged.passUnretained(dependency).toOpaque() { return true }
            edge = current.pointee.nextOfDependent
        }
        return false
    }
}
