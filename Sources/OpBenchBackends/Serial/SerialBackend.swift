import OpBenchModel

/// A plain loop on the submitting thread: no queue, no thread, no closure. The floor under every other backend, and the
/// oracle of the outcome. Nothing waits in it, so that it has no latency to report.
final class SerialBackend: Backend, @unchecked Sendable {
    static let factory = BackendFactory(
        id: .serial, guarantees: [], kinds: [.throughput, .memory], support: support, canHoldPending: { _ in false },
        make: { SerialBackend($0, $1) })

    private let plan: WorkloadPlan
    private let body: OperationBody
    private var order: [Int32] = []

    private init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
    }

    private static func support(_ plan: WorkloadPlan) -> Support {
        switch plan.shape {
        case .independent, .chain, .graph: .full()
        case .priorityMix:
            plan.startsSuspended ? .full(note: "sorted by level beforehand") : .full(note: "in the order of submission")
        case .threadPriority: .unsupported(reason: "a plain loop has one thread and one nice value")
        case .suspendResume: .unsupported(reason: "a plain loop cannot be suspended")
        case .wakeup: .unsupported(reason: "a plain loop has nothing to wake")
        case .openLoop: .unsupported(reason: "a plain loop has no queue that operations could arrive at")
        case .cancelStorm:
            plan.startsSuspended
                ? .full(note: "skips what is cancelled")
                : .unsupported(reason: "nothing waits in a plain loop that could be cancelled")
        case .blocking:
            plan.blocking?.kind == .sleep
                ? .full() : .unsupported(reason: "an operation of a plain loop would wait forever for one behind it")
        case .memoryFence: .unsupported(reason: "nothing waits in a plain loop")
        case .observers, .barriers, .blockGroups, .manualStart: .full()
        case .asynchronous:
            plan.announcedEnd == .itself ? .full() : .unsupported(reason: "a plain loop ends what it starts")
        case .sequence: .unsupported(reason: "a sequence is its phases")
        }
    }

    func build() {
        guard plan.startsSuspended, let classes = plan.classes else { return }
        order.reserveCapacity(plan.operationCount)
        for level in classes.keys.indices.reversed() {
            for operation in 0..<plan.operationCount where classes.ofOperation[operation] == level {
                order.append(Int32(operation))
            }
        }
    }

    func submit(_ part: Range<Int>) {}

    func release() {}

    func drain() {
        if let cancellation = plan.cancellation {
            for operation in 0..<plan.operationCount {
                if cancellation.isChosen[operation] {
                    body.didEndCancelled(operation)
                } else {
                    body.run(operation)
                }
            }
        } else if let notices = plan.noticesPerOperation {
            for operation in 0..<plan.operationCount {
                body.run(operation)
                for _ in 0..<notices { body.didNotice(operation) }
            }
        } else if plan.barrierEvery != nil {
            for operation in 0..<plan.operationCount {
                if plan.isBarrier(operation) { body.runBarrier(operation) } else { body.runBesideOthers(operation) }
            }
        } else if order.isEmpty {
            for operation in 0..<plan.operationCount { body.run(operation) }
        } else {
            for operation in order { body.run(Int(operation)) }
        }
    }

    func teardown() { order = [] }

    func suspend() {}

    func resume() {}
}
