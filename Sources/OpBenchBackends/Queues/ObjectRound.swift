import Dispatch
import OpBenchModel

/// One round on a library of operation queues, used as any program would: an object for each operation, made in
/// `build`.
///
/// - closure: `addOperation { }`, as `QueueRound` does; in bulk and refill a `BlockOperation` of the closure, since
///   those take objects.
/// - block: a `BlockOperation`.
/// - subclass: `main` overridden.
/// - refill: every operation of a batch has a completion block that counts down; the last one submits the next batch.
class ObjectRound<Queue: ObjectQueue>: QueueRound<Queue>, @unchecked Sendable {
    typealias Item = Queue.Item

    /// The objects that `make` makes.
    private enum Kind {
        case block, numbered, ladenBlock, laden, announcing
    }

    /// The difference between operations of several classes.
    private enum Urgency {
        case none, queuePriority, threadPriority
    }

    /// By number, of block groups by group; empty where `build` makes none.
    private var items: [Item] = []
    private var observations: [AnyObject] = []
    private let refill: Refill?
    private let kind: Kind
    private let urgency: Urgency
    private let ender: EndingThread<Queue.Announcing>?
    private let payloadBytes: Int
    private let observers: Int

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        refill = plan.refillWindow.map { Refill(window: $0, streams: plan.parts.count) }
        let isSubclass = plan.form == .subclass
        kind =
            if plan.announcedEnd != nil {
                .announcing
            } else if plan.ballast?.bytes ?? 0 > 0 {
                isSubclass ? .laden : .ladenBlock
            } else {
                isSubclass ? .numbered : .block
            }
        urgency =
            switch plan.way {
            case .priorityMix: .queuePriority
            case .replay: plan.classes == nil ? .none : .queuePriority
            case .threadPriority: .threadPriority
            default: .none
            }
        ender = plan.announcedEnd == .thread ? EndingThread { $0.end() } : nil
        payloadBytes = plan.ballast?.bytes ?? 0
        observers = plan.observers ?? 0
        let isSuspended = plan.startsSuspended
        super.init(plan, body) { Queue(limit: $0, isSuspended: isSuspended) }
    }

    // MARK: Phases

    override func build() {
        super.build()
        if refill != nil || plan.makesClosuresOnly { return }
        if plan.way == .blockGroups { return makeGroups() }
        items.reserveCapacity(plan.operationCount)
        observations.reserveCapacity(observers * plan.operationCount)
        for operation in 0..<plan.operationCount { items.append(make(operation)) }
        if plan.hasDependencies { link(items) }
        guard plan.blocking?.kind == .wait else { return }
        let round = Unretained(self)
        body.setWait { operation in round { $0.items[operation].waitUntilFinished() } }
    }

    override func submit(_ part: Range<Int>) {
        if let refill { return submitBatch(of: part, refill) }
        if plan.makesClosuresOnly { return super.submit(part) }
        let (queue, body, items) = (queues[0], body, items)
        switch plan.way {
        case .blockGroups:
            for group in plan.groups(of: part) {
                body.submitTogether(group, in: plan) { queue.add(items[group.lowerBound / group.count]) }
            }
        case .manualStart:
            for operation in part {
                body.willStart(operation)
                items[operation].start()
            }
        case _ where plan.submission == .bulk:
            body.submitTogether(part, in: plan) {
                queue.add(part.count == items.count ? items : Array(items[part]))
            }
        case _ where plan.isReversed || queues.count > 1:
            for index in part {
                let operation = plan.operation(at: index)
                body.willSubmit(operation)
                queues[plan.queueIndex(of: operation)].add(items[operation])
                body.didSubmit(operation)
            }
        default:
            for operation in part {
                body.willSubmit(operation)
                queue.add(items[operation])
                body.didSubmit(operation)
            }
        }
    }

    override func drain() {
        refill?.wait()
        super.drain()
    }

    override func cancel(_ part: Range<Int>) {
        guard let cancellation = plan.cancellation else { return }
        if cancellation.call == .all { return queues[0].cancelAll() }
        for operation in part where cancellation.isChosen[operation] { items[operation].cancel() }
    }

    override func attest() {
        guard plan.cancellation != nil else { return }
        for (operation, item) in items.enumerated() where item.isCancelled && item.isFinished {
            body.didEndCancelled(operation)
        }
    }

    override func teardown() {
        ender?.dismiss()
        observations = []
        items = []
        super.teardown()
    }

    // MARK: Operations

    /// Adds the plan's dependencies.
    func link(_ items: [Item]) {
        plan.forEachDependency { operation, predecessor in items[operation].addDependency(items[predecessor]) }
    }

    /// The queue keeps dependencies, and completion blocks refill it.
    override func chooseSubmission() { barriers = plan.barriers }

    override var chosenExtra: Extra { payloadBytes > 0 ? .payload(bytes: payloadBytes) : .nothing }

    private func make(_ operation: Int) -> Item {
        let item =
            switch kind {
            case .block: Queue.block { [body] in body.run(operation) }
            case .numbered: Queue.numbered(operation, body)
            case .ladenBlock: Queue.block(body.closure(operation, keeping: Payload.make(bytes: payloadBytes)))
            case .laden: Queue.laden(operation, body, Payload.make(bytes: payloadBytes))
            case .announcing: Queue.announcing(operation, body, ender)
            }
        if refill == nil, body.wantsNotification(operation) {
            item.completionBlock = notifications.block(operation, body)
        }
        switch urgency {
        case .none: break
        case .queuePriority: item.setQueuePriority(Int(plan.classValue(of: operation)))
        case .threadPriority: item.setThreadPriority(plan.classValue(of: operation))
        }
        if observers > 0 { observe(item, operation) }
        return item
    }

    private func observe(_ item: Item, _ operation: Int) {
        for _ in 0..<observers {
            if let observation = queues[0].observe(item, operation, body) { observations.append(observation) }
        }
    }

    private func makeGroups() {
        for group in plan.groups(of: 0..<plan.operationCount) {
            let item = Queue.group(group, body)
            if body.takesStamps { item.completionBlock = notifications.block(group, body) }
            items.append(item)
        }
    }

    private func submitBatch(of part: Range<Int>, _ refill: Refill) {
        let batch = part.prefix(refill.window)
        let rest = batch.upperBound..<part.upperBound
        let unfinished = Countdown(batch.count)
        let queue = queues[0]
        refill.willSubmit()
        defer { refill.didSubmit() }
        for operation in batch {
            let item = make(operation)
            item.completionBlock = { [body] in
                body.didNotify(operation)
                guard unfinished.isLast() else { return }
                if rest.isEmpty { refill.streamEnded() } else { self.submitBatch(of: rest, refill) }
            }
            body.willSubmit(operation)
            queue.add(item)
            body.didSubmit(operation)
        }
    }
}

extension BackendFactory {
    /// How a library of operation queues executes shapes.
    static func libraryWays(
        _ make: @escaping @Sendable (WorkloadPlan, OperationBody) -> any RoundBackend
    ) -> [Shape: Way] {
        let way = Way(make: make)
        let declared: [Shape] = [
            .independent, .chain, .graph, .suspendResume, .wakeup, .openLoop, .replay, .priorityMix, .threadPriority,
        ]
        let others: [Shape] = [
            .cancelStorm, .blocking, .memoryFence, .observers, .barriers, .blockGroups, .asynchronous,
        ]
        var ways: [Shape: Way] = [.manualStart: Way(canHoldPending: { _ in false }, make: make)]
        for shape in declared { ways[shape] = way.on(.declared) }
        for shape in others { ways[shape] = way }
        return ways
    }
}
