import Dispatch
import OpBenchModel

/// One round of a shape on queues of closures: Dispatch's, the engine's, Foundation's or a user's.
///
/// The queues are made in `build`, and each operation becomes a closure when it is submitted. Shapes differ in how
/// closures get into the queue, as `chooseSubmission` sets it, and in `extra`, which a closure does or keeps beside the
/// operation's body.
///
/// **Specialisation.** Methods of a generic class that are called through a protocol are compiled for any queue, with a
/// call through a table for each use of the queue. A subclass for one type of queue therefore overrides the methods
/// with a loop over operations by a call of `super`: that call, and the closures made in it, are compiled for that type
/// of queue.
///
/// **Lifetime.** The round outlives its operations, since `drain` waits for them: closures refer to it without
/// reference counting.
package class QueueRound<Queue: RoundQueue>: RoundBackend, @unchecked Sendable {
    typealias Work = @Sendable () -> Void
    typealias MakeQueue = @Sendable (_ limit: Int?) -> Queue

    /// An additional task or payload of an operation's closure.
    enum Extra {
        case nothing
        case payload(bytes: Int)
        case observers(Int)
        /// Skips the body if the operation's flag is set: that of number 0 for all where `step` is 0.
        case flag(CancellationFlags, step: Int)
        /// Signals the operation's partner, which waits for it.
        case signal([DispatchSemaphore])
    }

    /// The number of queues of a round.
    enum Layout {
        /// As the plan says.
        case planned
        /// Without a limit a serial queue for each chain, where the plan has one queue: a chain runs there in half the
        /// time that it takes on a concurrent one.
        case perChain
        /// A serial queue for each slot of the limit, dealt to in turn.
        case perSlot
    }

    final let plan: WorkloadPlan
    final let body: OperationBody
    final let notifications = Notifications()
    private let makeQueue: MakeQueue
    private let layout: Layout
    private(set) final var queues: [Queue] = []
    /// The same without reference counting, from `build` to `teardown`.
    final var places: UnsafeMutablePointer<Unretained<Queue>>!
    final var placeCount = 0
    /// The batches of which the last body submits the next one, if there are any.
    final var batches: CountedBatches?
    /// The dependencies, where each operation submits, as its last act, the successors that it made ready.
    final var successors: Successors?
    final var barriers: Barriers?
    final var extra = Extra.nothing
    /// Whether `extra` is nothing.
    final var isPlain = true
    /// Counts the operations that have not ended, where `counts`; with `successors`, on a trusted queue, those that
    /// nothing waits for.
    final let ends = EndCounter()
    /// Whether `ends` is used. Written in `build`.
    final var counts = false
    /// Whether operations were lost or ran twice. Nothing is freed then: the queues may still be at work.
    private(set) final var isBroken = false
    /// Whether the round is torn down, which an untrusted queue may not know.
    private(set) final var isOver = false

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ layout: Layout = .planned, make: @escaping MakeQueue) {
        (self.plan, self.body, self.layout, makeQueue) = (plan, body, layout, make)
    }

    deinit {
        releaseMemory()
        ends.deallocate()
    }

    // MARK: Phases

    package func build() {
        makeQueues()
        chooseSubmission()
        extra = chosenExtra
        if case .nothing = extra { isPlain = true } else { isPlain = false }
        counts = queues.contains(where: \.needsCount)
        if let successors {
            countEnds()
            ends.begin(countsEach(successors) ? plan.operationCount : successors.endCount)
        }
    }

    /// Whether `ends` counts all operations, not only those that nothing waits for.
    ///
    /// The queues of a replay have limits of their own: an operation that ends may still be in the call that submits one
    /// to another queue, of which nothing else knows.
    @inline(__always)
    final func countsEach(_ successors: Successors) -> Bool { !Queue.isTrusted || successors.awaitsArrivals }

    package func submit(_ part: Range<Int>) {
        if let batches {
            submitBatch(part.lowerBound, of: batches)
        } else if let successors, successors.awaitsArrivals {
            arrive(part, successors)
        } else if let successors {
            for head in successors.heads { submitReady(head) }
        } else if let barriers {
            submit(part, barriers)
        } else if plan.submission == .bulk {
            submitTogether(part)
        } else {
            submitEach(part)
        }
    }

    package func release() { resume() }

    package func drain() {
        batches?.wait()
        if counts { ends.wait() }
        for queue in queues { queue.drain(isCounted: counts) }
        notifications.wait()
    }

    package func cancel(_ part: Range<Int>) {
        guard case .flag(let flags, let step) = extra, let cancellation = plan.cancellation else { return }
        if step == 0 { return flags.set(0) }
        for operation in part where cancellation.isChosen[operation] { flags.set(operation) }
    }

    /// Checks the outcome on an untrusted queue before teardown, because the queue may still use the round.
    package func attest() {
        if Queue.isTrusted { return }
        let violations = plan.violations(of: body.traces)
        if !violations.isEmpty { giveUp(violations.joined(separator: "; ")) }
    }

    package func teardown() {
        if !Queue.isTrusted {
            if counts, !ends.close() { giveUp("an operation ran once more than it was submitted") }
            isOver = true
            if isBroken { return }
            // It may still run something late: the last rounds stay, and report it.
            _ = LateRounds.leftovers.keep(self)
        }
        releaseMemory()
    }

    private func releaseMemory() {
        queues = []
        places?.deallocate()
        places = nil
        batches?.deallocate()
        batches = nil
        successors?.deallocate()
        successors = nil
        extra = .nothing
    }

    package func suspend() { for queue in queues { queue.suspend() } }

    package func resume() { for queue in queues { queue.resume() } }

    // MARK: Choices

    /// Sets how this plan's operations are submitted. A subclass whose queue knows of dependencies chooses otherwise.
    func chooseSubmission() {
        batches = CountedBatches(plan)
        if batches == nil, plan.hasDependencies { successors = Successors(plan) }
        barriers = plan.barriers
    }

    var chosenExtra: Extra {
        if let bytes = plan.ballast?.bytes, bytes > 0 { return .payload(bytes: bytes) }
        if let observers = plan.observers, observers > 0 { return .observers(observers) }
        if let cancellation = plan.cancellation {
            let isOneForAll = cancellation.call == .all
            return .flag(
                CancellationFlags(count: isOneForAll ? 1 : plan.operationCount), step: isOneForAll ? 0 : 1)
        }
        guard plan.blocking?.kind == .wait else { return .nothing }
        let signals = (0..<plan.operationCount / 2).map { _ in DispatchSemaphore(value: 0) }
        let round = Unretained(self)
        body.setWait { operation in
            round { if case .signal(let signals) = $0.extra { signals[operation / 2].wait() } }
        }
        return .signal(signals)
    }

    /// The limit of each queue that the round makes.
    private var wantedLimits: [Int?] {
        switch (layout, plan.limit) {
        case (.perChain, nil) where plan.chains?.queues == 1: [Int?](repeating: 1, count: plan.chains?.count ?? 1)
        case (.perSlot, let limit?): [Int?](repeating: 1, count: limit)
        default: plan.queueLimits
        }
    }

    private func makeQueues() {
        queues = wantedLimits.map(makeQueue)
        let places = UnsafeMutablePointer<Unretained<Queue>>.allocate(capacity: queues.count)
        for (index, queue) in queues.enumerated() { (places + index).initialize(to: Unretained(queue)) }
        (self.places, placeCount) = (places, queues.count)
    }

    // MARK: Queues that cannot be trusted

    final func giveUp(_ finding: String) {
        isBroken = true
        BrokenRound.report(finding, keeping: self)
    }

    /// Reports an operation that runs when its round is over.
    @inline(never)
    final func ranLate() { BrokenRound.report("an operation ran once more when its round was over") }
}

/// The last rounds on untrusted queues.
private enum LateRounds {
    static let leftovers = Leftovers<AnyObject>(count: 1024)
}
