import Dispatch
import OpBenchModel

/// Graphs whose operations each have a group that the predecessors leave, and whose `notify` submits the operation.
final class DispatchGraph: RoundBackend, @unchecked Sendable {
    private let graph: DependencyGraph
    private let plan: WorkloadPlan
    private let body: OperationBody
    private var lane: DispatchLane?
    /// One for each operation, entered until all its predecessors have ended.
    private var joints: [DispatchGroup] = []
    /// Counts the operations that nothing waits for.
    private let running = EndCounter()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        guard let graph = plan.graph else { preconditionFailure("a plan without a graph") }
        self.graph = graph
        self.body = body
    }

    deinit { running.deallocate() }

    func build() {
        lane = DispatchLane(for: plan)
        running.begin(graph.sinks.count)
        joints.reserveCapacity(graph.operationCount)
        for operation in 0..<graph.operationCount {
            let joint = DispatchGroup()
            for _ in 0..<graph.predecessors.count(of: operation) { joint.enter() }
            joints.append(joint)
        }
    }

    func submit(_ part: Range<Int>) { for index in part { submit(plan.operation(at: index)) } }

    func release() { lane?.resume() }

    func drain() {
        running.wait()
        notifications.wait()
    }

    func teardown() {
        lane = nil
        joints = []
    }

    func suspend() { lane?.suspend() }

    func resume() { lane?.resume() }

    private func submit(_ operation: Int) {
        let backend = Unretained(self)
        var work: @Sendable () -> Void = { backend { $0.run(operation, nil) } }
        if body.wantsNotification(operation) {
            // Left when the operation has ended; its `notify` is the completion block.
            let end = DispatchGroup()
            end.enter()
            end.notify(queue: lane!.queue, execute: notifications.block(operation, body))
            work = { backend { $0.run(operation, end) } }
        }
        submit(operation, work, to: lane!)
    }

    private func submit(_ operation: Int, _ work: @escaping @Sendable () -> Void, to lane: DispatchLane) {
        body.willSubmit(operation)
        if graph.predecessors.count(of: operation) == 0 {
            lane.submit(work)
        } else if plan.limit ?? 1 > 1 {
            joints[operation].notify(queue: lane.queue) { lane.submit(work) }
        } else {
            joints[operation].notify(queue: lane.queue, execute: work)
        }
        body.didSubmit(operation)
    }

    /// - Parameter end: the group that the operation's completion block waits for, if there is one.
    private func run(_ operation: Int, _ end: DispatchGroup?) {
        body.run(operation)
        end?.leave()
        let successors = graph.successors[operation]
        if successors.isEmpty { running.end() }
        for successor in successors { joints[Int(successor)].leave() }
    }
}
