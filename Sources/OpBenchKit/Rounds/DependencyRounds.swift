import OpBenchBackends
import OpBenchModel

/// Chains in which each operation submits its successor as its last act.
final class ChainRound: QueueRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        guard let chains = plan.chains else { return }
        begin(plan.operationCount)
        for head in 0..<chains.count { submitReady(head, to: plan.queueIndex(of: head)) }
    }

    override func work(_ operation: Int) -> Work {
        unowned(unsafe) let round = self
        return { round.runAndSubmitNext(operation) }
    }

    private func runAndSubmitNext(_ operation: Int) {
        body.run(operation)
        let next = operation + plan.predecessorDistance
        if next < plan.operationCount { submitReady(next, to: plan.queueIndex(of: next)) }
        if notifies(operation) { body.didNotify(operation) }
        end()
    }
}

/// Graphs in which each operation submits the successors that it has made ready, by a counter for each.
final class GraphRound: QueueRound, @unchecked Sendable {
    private let graph: DependencyGraph
    private var counters: PredecessorCounters?

    required init(_ plan: WorkloadPlan, _ body: OperationBody, _ make: @escaping Make, _ hasWait: Bool) {
        guard let graph = plan.graph else { preconditionFailure("a plan without a graph") }
        self.graph = graph
        super.init(plan, body, make, hasWait)
    }

    override func build() {
        super.build()
        counters = PredecessorCounters(graph)
    }

    override func submit(_ part: Range<Int>) {
        begin(plan.operationCount)
        for source in graph.sources { submitReady(source) }
    }

    override func teardown() {
        super.teardown()
        guard !isBroken else { return }
        counters?.deallocate()
        counters = nil
    }

    override func work(_ operation: Int) -> Work {
        unowned(unsafe) let round = self
        return { round.runAndRelease(operation) }
    }

    private func runAndRelease(_ operation: Int) {
        guard let counters else { return ranLate() }
        body.run(operation)
        for successor in graph.successors[operation] where counters.countDown(Int(successor)) {
            submitReady(Int(successor))
        }
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
