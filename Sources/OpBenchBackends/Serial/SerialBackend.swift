import OpBenchModel

/// A plain loop on the submitting thread: no queue, no thread, no closure. The floor under every other backend, and the
/// oracle of the outcome. Nothing waits in it, so that it has no latency to report.
final class SerialBackend: RoundBackend, @unchecked Sendable {
    /// The work for each operation.
    private enum Step {
        case run
        /// By class, the most urgent first, where the plan holds everything back until it has all.
        case runByClass
        case cancel(Cancellation)
        case notice(Int)
        case divide(Barriers)
    }

    static let factory = BackendFactory(
        id: .serial, guarantees: [], kinds: [.throughput, .memory, .counters, .instructions], ways: ways,
        refusals: [
            .threadPriority: "a plain loop has one thread and one nice value",
            .suspendResume: "a plain loop cannot be suspended",
            .wakeup: "a plain loop has nothing to wake",
            .openLoop: "a plain loop has no queue that operations could arrive at",
            .replay: "a plain loop has no queue that operations could arrive at",
            .memoryFence: "nothing waits in a plain loop",
        ])

    private static let ways: [Shape: Way] = [
        .independent: way { _ in .run },
        .chain: way { _ in .run },
        .graph: way { _ in .run },
        .blockGroups: way { _ in .run },
        .manualStart: way { _ in .run },
        .priorityMix: way(
            { .full(note: $0.startsSuspended ? "sorted by level beforehand" : "in the order of submission") },
            { $0.startsSuspended ? .runByClass : .run }),
        .cancelStorm: way(
            {
                $0.startsSuspended
                    ? .full(note: "skips what is cancelled")
                    : .unsupported(reason: "nothing waits in a plain loop that could be cancelled")
            },
            { plan in plan.cancellation.map { .cancel($0) } ?? .run }),
        .blocking: way(
            {
                $0.blocking?.kind == .sleep
                    ? .full()
                    : .unsupported(reason: "an operation of a plain loop would wait forever for one behind it")
            }, { _ in .run }),
        .observers: way { .notice($0.observers ?? 0) },
        .barriers: way { plan in plan.barriers.map { .divide($0) } ?? .run },
        .asynchronous: way(
            {
                $0.announcedEnd == .itself
                    ? .full() : .unsupported(reason: "a plain loop ends what it starts")
            }, { _ in .notice(1) }),
    ]

    private static func way(
        _ support: @escaping @Sendable (WorkloadPlan) -> Support = { _ in .full() },
        _ step: @escaping @Sendable (WorkloadPlan) -> Step
    ) -> Way {
        Way(support: support, canHoldPending: { _ in false }, make: { SerialBackend($0, $1, step($0)) })
    }

    private let plan: WorkloadPlan
    private let body: OperationBody
    private let step: Step
    private var order: [Int32] = []

    private init(_ plan: WorkloadPlan, _ body: OperationBody, _ step: Step) {
        self.plan = plan
        self.body = body
        self.step = step
    }

    func build() {
        guard case .runByClass = step, let classes = plan.classes else { return }
        order.reserveCapacity(plan.operationCount)
        for level in classes.keys.indices.reversed() {
            for operation in 0..<plan.operationCount where classes.ofOperation[operation] == level {
                order.append(Int32(operation))
            }
        }
    }

    func submit(_ part: Range<Int>) {}

    func drain() {
        switch step {
        case .run: for operation in 0..<plan.operationCount { body.run(operation) }
        case .runByClass: for operation in order { body.run(Int(operation)) }
        case .cancel(let cancellation):
            for operation in 0..<plan.operationCount {
                if cancellation.isChosen[operation] {
                    body.didEndCancelled(operation)
                } else {
                    body.run(operation)
                }
            }
        case .notice(let notices):
            for operation in 0..<plan.operationCount {
                body.run(operation)
                for _ in 0..<notices { body.didNotice(operation) }
            }
        case .divide(let barriers):
            for operation in 0..<plan.operationCount {
                if barriers.isBarrier(operation) { body.runBarrier(operation) } else { body.runBesideOthers(operation) }
            }
        }
    }

    func teardown() { order = [] }
}

/// The plain loop, and the thread that a futex wakes.
package enum SerialBackends {
    package static let factories = [SerialBackend.factory, FutexBackend.factory]
}
