/// A task for each operation: the nearest to a queue in Swift's concurrency.
///
/// Without a limit the tasks run on the global executor, at limit 1 on an actor, at limit k with one of k permits.
/// Where the plan suspends, they wait at a gate before the body: nothing can stop a task that has been made.
///
/// The lane must outlive its tasks; they hold no reference to it.
final class TaskLane: @unchecked Sendable {
    private let actor: LaneActor?
    private let gate: TaskGate?
    fileprivate let body: @Sendable (Int) -> Void
    /// Called in the operation's task when it no longer holds the actor or a permit.
    private let after: @Sendable (Int) -> Void

    init(
        limit: Int?, canBeHeld: Bool, isHeld: Bool, body: @escaping @Sendable (Int) -> Void,
        after: @escaping @Sendable (Int) -> Void
    ) {
        actor = limit == 1 ? LaneActor() : nil
        let permits = limit == 1 ? nil : limit
        gate = canBeHeld || isHeld || permits != nil ? TaskGate(permits: permits, isHeld: isHeld) : nil
        self.body = body
        self.after = after
    }

    /// Makes the operation's task.
    ///
    /// - Parameter payload: an object that the task keeps until it has ended.
    @discardableResult
    @inline(__always)
    func submit(
        _ operation: Int, priority: TaskPriority? = nil, keeping payload: AnyObject? = nil
    ) -> Task<Void, Never> {
        unowned(unsafe) let lane = self
        if let payload {
            nonisolated(unsafe) let payload = payload
            return Task(priority: priority) {
                await lane.run(operation)
                withExtendedLifetime(payload) {}
            }
        }
        guard gate == nil else {
            return Task(priority: priority) { await lane.run(operation) }
        }
        guard actor == nil else {
            return Task(priority: priority) {
                await lane.actor!.run(operation, lane)
                lane.after(operation)
            }
        }
        return Task(priority: priority) {
            lane.body(operation)
            lane.after(operation)
        }
    }

    func hold() { gate?.hold() }

    func open() { gate?.open() }

    /// Runs the operation in the calling task.
    func run(_ operation: Int) async {
        if let actor {
            if let gate { await actor.run(operation, self, past: gate) } else { await actor.run(operation, self) }
        } else {
            await gate?.enter()
            body(operation)
            gate?.leave()
        }
        after(operation)
    }
}

/// Runs one body at a time, the task of the highest priority first.
private actor LaneActor {
    func run(_ operation: Int, _ lane: TaskLane) { lane.body(operation) }

    /// The gate is here, next to the body, so that no task is between the two when the gate is held.
    func run(_ operation: Int, _ lane: TaskLane, past gate: TaskGate) async {
        await gate.enter()
        lane.body(operation)
        gate.leave()
    }
}
