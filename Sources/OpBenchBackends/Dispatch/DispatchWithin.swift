import Dispatch
import OpBenchModel

/// Chains and graphs of which each body submits what it has made ready, as its last act.
final class DispatchWithin: Backend, @unchecked Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody
    /// Whether a body runs the first that it made ready itself, without the queue.
    private let isInline: Bool
    private let successors: Successors
    private let lanes: [DispatchLane]
    /// The same, found without reference counting.
    private let laneTable: UnsafeMutablePointer<Unretained<DispatchLane>>
    private let laneCount: UInt32
    private let isAcrossQueues: Bool
    /// Counts the operations that nothing waits for.
    private let running = EndCounter()
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody, isInline: Bool = false) {
        self.plan = plan
        self.body = body
        self.isInline = isInline
        successors = Successors(plan)
        let queueCount = plan.chains?.queues ?? 1
        isAcrossQueues = queueCount > 1
        // A chain runs on a serial queue of its own in half the time that it takes on a concurrent one.
        let ownLanes = plan.limit == nil && !isAcrossQueues ? plan.chains?.count : nil
        lanes = (0..<(ownLanes ?? queueCount)).map { _ in
            DispatchLane(for: plan, limit: ownLanes == nil ? plan.limit : 1)
        }
        laneCount = UInt32(lanes.count)
        laneTable = .allocate(capacity: lanes.count)
        for (index, lane) in lanes.enumerated() { (laneTable + index).initialize(to: Unretained(lane)) }
    }

    deinit {
        laneTable.deallocate()
        running.deallocate()
        successors.deallocate()
    }

    // MARK: Phases

    func build() { running.begin(successors.endCount) }

    func submit(_ part: Range<Int>) { for head in successors.heads { submit(head) } }

    func release() { for lane in lanes { lane.resume() } }

    func drain() {
        running.wait()
        // The body that submitted the last operation may still be in its call, on the pumps of another lane.
        if plan.limit ?? 1 > 1 { for lane in lanes { lane.drain() } }
        notifications.wait()
    }

    func teardown() {}

    func suspend() { for lane in lanes { lane.suspend() } }

    func resume() { for lane in lanes { lane.resume() } }

    // MARK: Operations

    @inline(__always)
    private func lane(of operation: Int) -> Unretained<DispatchLane> {
        if laneCount == 1 { return laneTable[0] }
        if isAcrossQueues { return laneTable[plan.queueIndex(of: operation)] }
        return laneTable[Int(UInt32(truncatingIfNeeded: operation) % laneCount)]
    }

    private func submit(_ operation: Int) {
        // The backend outlives its operations, since `drain` waits for them.
        let backend = Unretained(self)
        let work: @Sendable () -> Void = { backend { $0.runAndRelease(operation) } }
        let lane = lane(of: operation)
        lane { lane in
            guard body.takesStamps else { return lane.async(work) }
            // The operation may end before this call has returned; `drain` must not.
            running.begin(1)
            body.willSubmit(operation)
            if body.wantsNotification(operation) {
                lane.async(work, thenNotify: notifications.block(operation, body))
            } else {
                lane.async(work)
            }
            body.didSubmit(operation)
            running.end()
        }
    }

    private func runAndRelease(_ operation: Int) {
        body.run(operation)
        guard isInline else {
            if successors.release(after: operation, by: { submit($0) }) { running.end() }
            return
        }
        var next = releaseButFirst(after: operation)
        while let operation = next {
            runHere(operation)
            next = releaseButFirst(after: operation)
        }
    }

    /// - Returns: the successor that the caller runs itself.
    private func releaseButFirst(after operation: Int) -> Int? {
        var first: Int?
        let isLast = successors.release(after: operation) { successor in
            if first == nil { first = successor } else { submit(successor) }
        }
        if isLast { running.end() }
        return first
    }

    /// Runs an operation where its predecessor ran, without the queue.
    private func runHere(_ operation: Int) {
        let end = body.wantsNotification(operation) ? makeEnd(of: operation) : nil
        body.willSubmit(operation)
        body.didSubmit(operation)
        body.run(operation)
        end?.leave()
    }

    /// A group to be left when the operation has ended; its `notify` is the completion block.
    private func makeEnd(of operation: Int) -> DispatchGroup {
        let end = DispatchGroup()
        end.enter()
        end.notify(queue: lanes[0].queue, execute: notifications.block(operation, body))
        return end
    }
}
