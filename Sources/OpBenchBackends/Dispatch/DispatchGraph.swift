import Dispatch
import OpBenchModel

/// Graphs on Dispatch, in the forms that `DispatchBackend` describes.
final class DispatchGraph: Backend, @unchecked Sendable {
    enum GraphForm: Sendable {
        case within, notify, inline

        /// Whether all operations can wait in a suspended queue: but for `notify` none is submitted before its time.
        var holdsPending: Bool { self == .notify }

        /// What differs in meaning from a dependency that the queue knows of.
        var note: String {
            switch self {
            case .within: "each body submits the successors that it made ready"
            case .inline: "a body runs the first successor that it made ready itself, and submits the others"
            case .notify: ""
            }
        }
    }

    private let graph: DependencyGraph
    private let plan: WorkloadPlan
    private let body: OperationBody
    private let form: GraphForm
    private var lane: DispatchLane?
    /// `within` and `inline`.
    private var counters: PredecessorCounters?
    /// `notify`: one for each operation, entered until all its predecessors have ended.
    private var joints: [DispatchGroup] = []
    /// Entered for each operation that nothing waits for, until it has ended.
    private let running = DispatchGroup()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ form: GraphForm) {
        self.plan = plan
        guard let graph = plan.graph else { preconditionFailure("a plan without a graph") }
        self.graph = graph
        self.body = body
        self.form = form
    }

    // MARK: Phases

    func build() {
        lane = DispatchLane(limit: plan.limit, isSuspended: plan.startsSuspended)
        for _ in graph.sinks { running.enter() }
        if form == .notify { makeJoints() } else { counters = PredecessorCounters(graph) }
    }

    func submit(_ part: Range<Int>) {
        guard form == .notify else {
            for source in graph.sources { submitReady(source) }
            return
        }
        for index in part { submitNotified(plan.operation(at: index)) }
    }

    func release() { lane?.resume() }

    func drain() {
        running.wait()
        notifications.wait()
    }

    func teardown() {
        lane = nil
        joints = []
        counters?.deallocate()
        counters = nil
    }

    func suspend() { lane?.suspend() }

    func resume() { lane?.resume() }

    // MARK: Counters

    private func submitReady(_ operation: Int) {
        // The backend outlives the graph, since `drain` waits for it: no reference counting on the shared object.
        unowned(unsafe) let backend = self
        let (lane, work) = (lane!, { @Sendable in backend.runAndRelease(operation) })
        guard body.takesStamps else { return lane.asyncUncounted(work) }
        // The operation may end before this call has returned; `drain` must not.
        running.enter()
        body.willSubmit(operation)
        if body.wantsNotification(operation) {
            lane.async(work, thenNotify: notifications.block(operation, body))
        } else {
            lane.asyncUncounted(work)
        }
        body.didSubmit(operation)
        running.leave()
    }

    private func runAndRelease(_ operation: Int) {
        body.run(operation)
        var next = releaseSuccessors(of: operation)
        while next >= 0 {
            runHere(next)
            next = releaseSuccessors(of: next)
        }
    }

    /// Runs an operation where its predecessor ran, without the queue.
    private func runHere(_ operation: Int) {
        let end = body.wantsNotification(operation) ? makeEnd(of: operation) : nil
        body.willSubmit(operation)
        body.didSubmit(operation)
        body.run(operation)
        end?.leave()
    }

    /// - Returns: the successor that the caller runs itself, or -1.
    private func releaseSuccessors(of operation: Int) -> Int {
        let successors = graph.successors[operation]
        if successors.isEmpty { running.leave() }
        var own = -1
        for successor in successors where counters!.countDown(Int(successor)) {
            if form == .inline, own < 0 { own = Int(successor) } else { submitReady(Int(successor)) }
        }
        return own
    }

    // MARK: Notifications

    private func makeJoints() {
        joints.reserveCapacity(graph.operationCount)
        for operation in 0..<graph.operationCount {
            let joint = DispatchGroup()
            for _ in 0..<graph.predecessors.count(of: operation) { joint.enter() }
            joints.append(joint)
        }
    }

    private func submitNotified(_ operation: Int) {
        unowned(unsafe) let backend = self
        var work: @Sendable () -> Void = { backend.runAndLeave(operation, nil) }
        if body.wantsNotification(operation) {
            let end = makeEnd(of: operation)
            work = { backend.runAndLeave(operation, end) }
        }
        submit(operation, work, to: lane!)
    }

    private func submit(_ operation: Int, _ work: @escaping @Sendable () -> Void, to lane: DispatchLane) {
        body.willSubmit(operation)
        if graph.predecessors.count(of: operation) == 0 {
            lane.asyncUncounted(work)
        } else if plan.limit ?? 1 > 1 {
            joints[operation].notify(queue: lane.queue) { lane.asyncUncounted(work) }
        } else {
            joints[operation].notify(queue: lane.queue, execute: work)
        }
        body.didSubmit(operation)
    }

    /// - Parameter end: what the operation's completion block waits for, if it has one.
    private func runAndLeave(_ operation: Int, _ end: DispatchGroup?) {
        body.run(operation)
        end?.leave()
        let successors = graph.successors[operation]
        if successors.isEmpty { running.leave() }
        for successor in successors { joints[Int(successor)].leave() }
    }

    /// A group to be left when the operation has ended; its `notify` is the completion block.
    private func makeEnd(of operation: Int) -> DispatchGroup {
        let end = DispatchGroup()
        end.enter()
        end.notify(queue: lane!.queue, execute: notifications.block(operation, body))
        return end
    }
}
