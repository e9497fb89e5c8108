import Dispatch
import Synchronization

/// Finds blocking waits that can never end, and reports them as `Misuse.waitNeverEnds` (contract E15, O5).
///
/// When a wait without a deadline has lasted for a while, the waiting thread checks it. It checks again after twice the
/// time, and so on, until the wait has ended or is reported. What is reported is certain: a search finds a chain of
/// dependencies, and then the chain is checked with all its operations locked at once.
///
/// A check visits a bounded number of unfinished operations, and calls no deinit: a thread of the pool releases what it
/// has visited. `Misuse.findsEndlessWaits` turns the checks off.
package enum EndlessWait {
    private static let patienceNanoseconds = Atomic<Int64>(1_000_000_000)
    /// The most operations that a check visits. In a larger graph it reports what it has found by then, and does not
    /// search the rest.
    package static let mostVisited = 10_000

    /// How long a wait lasts before it is checked. A second, except in tests.
    package static var patience: Duration {
        get { .nanoseconds(patienceNanoseconds.load(ordering: .relaxed)) }
        set { patienceNanoseconds.store(newValue.wholeNanoseconds, ordering: .relaxed) }
    }

    static var endOfPatience: DispatchTime {
        .now() + .nanoseconds(Int(patienceNanoseconds.load(ordering: .relaxed)))
    }

    /// Waits without a deadline.
    ///
    /// - Parameters:
    ///   - sleep: waits until a deadline. Returns true if the awaited event has happened.
    ///   - reason: returns why it cannot happen, if that is certain.
    static func wait(_ sleep: (Deadline) -> Bool, reason: () -> String?) {
        var patience = Self.patience
        while !sleep(Deadline(after: patience)) {
            ThreadStarter.shared.tryAgain()
            if Misuse.findsEndlessWaits, let reason = reason() ?? ThreadExhaustion.reason() {
                Misuse.waitNeverEnds(reason: reason).report()
                _ = sleep(.never)
                return
            }
            patience = max(patience * 2, .milliseconds(1))
        }
    }

    // MARK: Reasons

    /// Why the calling thread's wait for an operation cannot end, if that is certain at this instant.
    package static func reason(forOperation operation: Operation) -> String? {
        keepingWhatIsVisited { reason(from: [operation], waiter: Waiter.ofThisThread, &$0) }
    }

    /// Why the calling thread's wait for all operations of a queue cannot end.
    static func reason(forQueue queue: QueueCore) -> String? {
        let waiter = Waiter.ofThisThread
        if let waiter, waiter.queue === queue {
            return "\(waiter.operation) waits for the whole of its own queue"
        }
        return keepingWhatIsVisited { visited in
            let guests = queue.startedGuests(atMost: mostVisited)
            visited.keep(guests)
            for guest in guests { guest.watchUnannouncedEnd() }
            // A queue that makes progress is not searched, because that would delay it. Listing a queue makes an object
            // for each of its closures.
            guard queue.isStandingStill, queue.operationCount <= mostVisited else { return nil }
            return reason(from: queue.unfinishedOperations(), waiter: waiter, &visited)
        }
    }

    /// The operations that a check has visited, each retained.
    private struct Visited: @unchecked Sendable {
        private(set) var operations: [Unmanaged<Operation>] = []

        mutating func keep(_ more: [Operation]) { operations += more.map { .passRetained($0) } }
    }

    /// Runs a check, and has a thread of the pool release what it has visited once nothing of the check is left: a
    /// deinit may run any code, and this thread may wait under any lock.
    @inline(never)
    private static func keepingWhatIsVisited(_ check: (inout Visited) -> String?) -> String? {
        var visited = Visited()
        let reason = check(&visited)
        if !visited.operations.isEmpty {
            WorkerPool.of(.normal).submit(
                .block { [visited] in
                    for operation in visited.operations { operation.release() }
                })
        }
        return reason
    }

    private static func reason(from awaited: [Operation], waiter: Waiter?, _ visited: inout Visited) -> String? {
        var search = DependencySearch()
        search.asksForCertainty = true
        search.mostVisited = mostVisited
        let found = search.deadEnd(from: awaited) { operation in
            operation.watchUnannouncedEnd()
            guard let waiter else { return false }
            return operation === waiter.operation || waiter.keepsOut(operation)
        }
        visited.keep(awaited)
        visited.keep(search.found)
        switch found {
        case .cycle(let path, let start):
            guard isCertain(path, thenHolds: { path[path.count - 1].isHeldBy(path[start]) }) else { return nil }
            return "these depend on each other in a cycle: \(text(Array(path[start...]) + [path[start]]))"
        case .hopeless(let path):
            guard let waiter, let last = path.last else { return nil }
            if last === waiter.operation {
                guard isCertain(path, thenHolds: { true }) else { return nil }
                return "\(waiter.operation) waits for what depends on itself: \(text(path))"
            }
            guard isCertain(path, thenHolds: { waiter.keepsOut(last) }) else { return nil }
            return """
                \(waiter.operation) waits for what comes after it in a queue with the limit 1: \(text(path))
                """
        case nil:
            return nil
        }
    }

    /// Whether at one instant each operation of the path is held back by the next, and the last one in the way that
    /// `thenHolds` checks.
    ///
    /// With all locks held no dependency is removed, and a new one releases no operation. Everything else that is
    /// checked changes only once: an operation that has not begun, is not cancelled or is not finished when it is
    /// checked was so when the last lock was taken. (An operation that is given back after it was chosen overrides
    /// `isReady`, and is not in a path.)
    private static func isCertain(_ path: [Operation], thenHolds: () -> Bool) -> Bool {
        // Nowhere else does a thread hold two operations' locks. Here it takes them in the order of their addresses.
        let inOrder = path.sorted { ObjectIdentifier($0) < ObjectIdentifier($1) }
        for operation in inOrder { operation.lock.lock() }
        defer { for operation in inOrder { operation.lock.unlock() } }
        return thenHolds() && zip(path, path.dropFirst()).allSatisfy { $0.isHeldBy($1) }
    }

    /// A path as text, shortened if it is long.
    private static func text(_ path: [Operation]) -> String {
        let shown = 12
        let names = path.prefix(shown).map(\.description) + (path.count > shown ? ["…"] : [])
        let rest = path.count > shown + 1 ? [path[path.count - 1].description] : []
        return (names + rest).joined(separator: " → ") + (path.count > shown ? " (\(path.count) in all)" : "")
    }
}

/// The operation inside which the calling thread waits, if that operation cannot end before the wait does.
private struct Waiter {
    let operation: Operation
    let queue: QueueCore

    static var ofThisThread: Waiter? {
        guard let runner = Runner.current,
            case (let own?, let queue?) = runner._withUnsafeGuaranteedRef({ ($0.operationInHand, $0.queue) })
        else { return nil }
        // If it overrides `start` or `isFinished`, another thread may finish it.
        guard own.state.load().phase == .executing, !MethodOverride.start.isPresent(in: own),
            !MethodOverride.isFinished.isPresent(in: own)
        else { return nil }
        return Waiter(operation: own, queue: queue)
    }

    /// Whether `other` cannot start before this operation has ended, because it needs the only slot of their queue.
    func keepsOut(_ other: Operation) -> Bool { queue.isOnlySlot(of: operation, neededBy: other) }
}
