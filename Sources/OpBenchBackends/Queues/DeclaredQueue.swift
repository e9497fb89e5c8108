import OpBenchModel

/// A queue that a program declares. `OpBenchKit` has the one subclass, which calls the program's own queue: a class
/// rather than a protocol, so that rounds are compiled for it.
///
/// Optional capabilities trap unless they are overridden; a backend's table lists the capabilities of a queue.
open class DeclaredQueue: RoundQueue, @unchecked Sendable {
    public typealias Work = @Sendable () -> Void

    package static var isTrusted: Bool { false }
    package static var hasCompletionBlocks: Bool { false }

    package let needsCount: Bool

    /// - Parameter hasWait: whether the queue can wait for all that was submitted.
    public init(hasWait: Bool) { needsCount = !hasWait }

    open func submit(_ work: @escaping Work) { missing() }
    /// Whether the queue takes many closures by one call.
    open var takesBulk: Bool { false }
    open func submit(contentsOf works: [Work]) { missing() }
    open func submitBarrier(_ work: @escaping Work) { missing() }
    open func submit(priority: Int, _ work: @escaping Work) { missing() }
    open func submit(threadPriority: Double, _ work: @escaping Work) { missing() }
    /// Allocates the tickets of so many operations, for the two calls that follow; drops those of the previous round.
    open func keepTickets(of operations: Int) {}
    /// Runs an operation after those predecessors. Called by one thread, in the order of the operations' numbers.
    open func submit(_ operation: Int, after predecessors: [Int], _ work: @escaping Work) { missing() }
    open func submitCancellable(_ operation: Int, _ work: @escaping Work) { missing() }
    /// - Returns: whether the operation never runs.
    open func cancel(_ operation: Int) -> Bool { missing() }
    /// Whether the queue must be notified when work ends that continues after its closure has returned.
    open var knowsEnds: Bool { false }
    open func submitAsynchronous(_ work: @escaping @Sendable (_ end: @escaping Work) -> Void) { missing() }
    open func waitUntilEmpty() { missing() }
    open func suspend() {}
    open func resume() {}

    package func submit(_ work: @escaping Work, thenNotify notification: @escaping Work) { missing() }

    package func drain(isCounted: Bool) { if !isCounted { waitUntilEmpty() } }

    private func missing(_ function: String = #function) -> Never {
        preconditionFailure("a declared queue without \(function)")
    }
}

/// One round on declared queues, with the calls that other queues lack.
package final class DeclaredRound: QueueRound<DeclaredQueue>, @unchecked Sendable {
    /// The side that provides what the shape needs.
    package enum Means: Sendable {
        /// The round, on any queue.
        case round
        /// The queue, by its own calls.
        case queue
    }

    private struct Unended: Sendable {
        let operation: Int
        /// Reports the end to the queue, if it must know.
        let end: Work?
    }

    private let means: Means
    private var ender: EndingThread<Unended>?

    package init(
        _ plan: WorkloadPlan, _ body: OperationBody, by means: Means,
        make: @escaping @Sendable (_ limit: Int?) -> DeclaredQueue
    ) {
        self.means = means
        super.init(plan, body) { limit in
            let queue = make(limit)
            if plan.startsSuspended { queue.suspend() }
            return queue
        }
    }

    // MARK: Phases

    override package func build() {
        super.build()
        if means == .queue { queues[0].keepTickets(of: plan.operationCount) }
        guard plan.announcedEnd != nil else { return }
        // The queue's own wait does not include the announcements.
        countEnds()
        guard plan.announcedEnd == .thread else { return }
        let round = Unretained(self)
        ender = EndingThread { unended in round { $0.announce(unended) } }
    }

    override package func submit(_ part: Range<Int>) {
        let queue = queues[0]
        switch plan.way {
        case .independent where plan.submission == .bulk && queue.takesBulk:
            begin(part.count)
            body.submitTogether(part, in: plan) { queue.submit(contentsOf: part.map { work($0) }) }
        case .chain where means == .queue, .graph where means == .queue: submitDependent(part, to: queue)
        case .cancelStorm where means == .queue:
            submitEach(part) { queue.submitCancellable($0, $1) }
        case .priorityMix:
            let levels = (plan.classes?.values ?? []).map { Int($0) }
            let classes = plan.classes?.ofOperation ?? []
            submitEach(part) { queue.submit(priority: levels[Int(classes[$0])], $1) }
        case .threadPriority:
            let priorities = plan.classes?.values ?? []
            let classes = plan.classes?.ofOperation ?? []
            submitEach(part) { queue.submit(threadPriority: priorities[Int(classes[$0])], $1) }
        case .blockGroups: submitGroups(part, to: queue)
        case .asynchronous: submitAnnounced(part, to: queue)
        default: super.submit(part)
        }
    }

    /// An operation that the queue takes back has ended.
    override package func cancel(_ part: Range<Int>) {
        guard means == .queue, let cancellation = plan.cancellation else { return super.cancel(part) }
        for operation in part where cancellation.isChosen[operation] && queues[0].cancel(operation) {
            body.didEndCancelled(operation)
            end()
        }
    }

    /// Ends the thread before the queue: it may still be reporting an end to it.
    override package func teardown() {
        ender?.dismiss()
        if means == .queue, !isBroken { queues[0].keepTickets(of: 0) }
        super.teardown()
    }

    // MARK: Choices

    override func chooseSubmission() { if means == .round || !plan.hasDependencies { super.chooseSubmission() } }

    override var chosenExtra: Extra {
        means == .queue && plan.cancellation != nil ? .nothing : super.chosenExtra
    }

    // MARK: Submitting

    @inline(__always)
    private func submitEach(_ part: Range<Int>, _ call: (Int, @escaping Work) -> Void) {
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            call(operation, work(operation, notifies: notifies(operation)))
            body.didSubmit(operation)
        }
    }

    private func submitDependent(_ part: Range<Int>, to queue: DeclaredQueue) {
        var predecessors: [Int] = []
        let (graph, distance) = (plan.graph, plan.predecessorDistance)
        submitEach(part) { operation, work in
            predecessors.removeAll(keepingCapacity: true)
            if let graph {
                for predecessor in graph.predecessors[operation] { predecessors.append(Int(predecessor)) }
            } else if operation >= distance {
                predecessors.append(operation - distance)
            }
            queue.submit(operation, after: predecessors, work)
        }
    }

    /// Each block is submitted by itself; the last to end announces the operation.
    private func submitGroups(_ part: Range<Int>, to queue: DeclaredQueue) {
        begin(part.count)
        for group in plan.groups(of: part) {
            let countdown = body.takesStamps ? Countdown(group.count) : nil
            body.submitTogether(group, in: plan) {
                for operation in group { queue.submit(block(operation, of: group, countdown)) }
            }
        }
    }

    private func block(_ operation: Int, of group: Range<Int>, _ countdown: Countdown?) -> Work {
        guard let countdown else { return work(operation) }
        let round = Unretained(self)
        return {
            round {
                $0.body.run(operation)
                if countdown.isLast() { for operation in group { $0.body.didNotify(operation) } }
                $0.end()
            }
        }
    }

    // MARK: Announced ends

    /// Submits operations that continue after their closure has returned, until their end is announced: by a thread to
    /// which they are handed, or by themselves.
    private func submitAnnounced(_ part: Range<Int>, to queue: DeclaredQueue) {
        let round = Unretained(self)
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            if queue.knowsEnds {
                queue.submitAsynchronous { end in round { $0.run(Unended(operation: operation, end: end)) } }
            } else {
                queue.submit { round { $0.run(Unended(operation: operation, end: nil)) } }
            }
            body.didSubmit(operation)
        }
    }

    private func run(_ unended: Unended) {
        if isOver { return ranLate() }
        body.run(unended.operation)
        if let ender { ender.take(unended) } else { announce(unended) }
    }

    private func announce(_ unended: Unended) {
        body.didAnnounceEnd(unended.operation)
        unended.end?()
        if notifies(unended.operation) { body.didNotify(unended.operation) }
        end()
    }
}
