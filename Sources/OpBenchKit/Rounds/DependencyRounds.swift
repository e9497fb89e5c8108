import OpBenchBackends
import OpBenchModel

/// Chains and graphs in which each operation submits, as its last act, those that it has made ready.
final class WithinRound: QueueRound, @unchecked Sendable {
    private var successors: Successors?

    override func build() {
        super.build()
        successors = Successors(plan)
    }

    override func submit(_ part: Range<Int>) {
        guard let heads = successors?.heads else { return }
        begin(plan.operationCount)
        for head in heads { submitReady(head, to: plan.queueIndex(of: head)) }
    }

    override func teardown() {
        super.teardown()
        guard !isBroken else { return }
        successors?.deallocate()
        successors = nil
    }

    override func work(_ operation: Int) -> Work {
        let round = Unretained(self)
        return { round { $0.runAndRelease(operation) } }
    }

    private func runAndRelease(_ operation: Int) {
        guard let successors else { return ranLate() }
        body.run(operation)
        _ = successors.release(after: operation) { submitReady($0, to: plan.queueIndex(of: $0)) }
        if notifies(operation) { body.didNotify(operation) }
        end()
    }
}

/// Chains and graphs of which the queue itself knows what waits for what.
final class DependencyRound<Queue: DependencyQueue>: QueueRound, @unchecked Sendable {
    /// Written by the one thread that submits.
    private var tickets: [Queue.Ticket] = []

    override func build() {
        super.build()
        tickets.reserveCapacity(plan.operationCount)
    }

    override func submit(_ part: Range<Int>) {
        guard let queue = queues[0].queue as? Queue else { return }
        begin(part.count)
        var after: [Queue.Ticket] = []
        for operation in part {
            after.removeAll(keepingCapacity: true)
            if let graph = plan.graph {
                for predecessor in graph.predecessors[operation] { after.append(tickets[Int(predecessor)]) }
            } else if operation >= plan.predecessorDistance {
                after.append(tickets[operation - plan.predecessorDistance])
            }
            body.willSubmit(operation)
            tickets.append(queue.submit(after: after, work(operation)))
            body.didSubmit(operation)
        }
    }

    override func teardown() {
        tickets = []
        super.teardown()
    }
}
