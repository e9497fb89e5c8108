import OpBenchBackends
import OpBenchModel

/// One execution of a plan by one backend object: the phases and the clock between them.
struct Round: Sendable {
    /// Readings of the one clock, in the order in which they were taken.
    var begun: Int64 = 0
    var built: Int64 = 0
    var submitted: Int64 = 0
    /// Equal to `submitted` where nothing is cancelled.
    var cancelled: Int64 = 0
    var drained: Int64 = 0
    var teardownBegun: Int64 = 0
    var tornDown: Int64 = 0
    /// Page faults of drain and teardown, where a plan asks what letting go of its operations takes; else 0.
    var releaseFaults = 0
    /// What the storm did, if the plan has one.
    var holds: [Hold] = []
    /// How it was submitted.
    var pace = Pace()
    /// The resources that the storm's thread used between its calls.
    var stormUsage = ResourceUsage()

    var build: Int64 { built - begun }
    /// Without the pauses of the plan's own.
    var submit: Int64 { submitted - built - pace.pausedNanoseconds }
    var cancel: Int64 { cancelled - submitted }
    /// The time of draining, without the holds.
    var drain: Int64 { drained - cancelled - held }
    var teardown: Int64 { tornDown - teardownBegun }
    /// build + submit + cancel + drain, by one pair of readings, less pauses and holds.
    var total: Int64 { drained - begun - pace.pausedNanoseconds - held }
    var makespan: Int64 { drained - built - pace.pausedNanoseconds - held }
    /// The same with pauses and holds: how long the round occupied the machine.
    var elapsed: Int64 { drained - begun }

    /// How long an obedient queue stood still with everything submitted. A hold counts only from then on: before, the
    /// queue accepts operations during it.
    private var held: Int64 {
        holds.reduce(0) { $0 + max(0, min($1.resumeCalled, drained) - max($1.suspendReturned, cancelled)) }
    }

    /// The resources that the benchmark's own threads used apart from their calls to the queue.
    var pausedUsage: ResourceUsage {
        var usage = pace.pausedUsage
        usage.add(stormUsage)
        return usage
    }

    /// The instants at which memory is read.
    enum Mark: String, CaseIterable, Sendable {
        case before, pending, drained, released

        var index: Int {
            switch self {
            case .before: 0
            case .pending: 1
            case .drained: 2
            case .released: 3
            }
        }
    }

    /// Runs a round.
    ///
    /// - Parameters:
    ///   - keeper: holds the queue that the phases of a sequence share.
    ///   - atMark: called between the phases, for samples that are not timed.
    static func run(
        _ plan: WorkloadPlan, by factory: BackendFactory, _ body: OperationBody, producers: Producers,
        keeper: QueueKeeper? = nil, atMark: ((Mark) -> Void)? = nil
    ) -> Round {
        var round = Round()
        let make = factory.maker(for: plan)
        let features = Features(plan)
        atMark?(.before)
        round.begun = MonotonicClock.now()
        var backend: (any Backend)? = make(plan, body)
        if let queue = keeper?.queue { backend?.takeOver(queue) }
        round.run(plan, features, backend!, producers, atMark)
        if let queue = keeper.flatMap({ _ in backend?.handOver() }) { keeper?.queue = queue }
        round.teardownBegun = MonotonicClock.now()
        backend?.teardown()
        backend = nil
        round.tornDown = MonotonicClock.now()
        if features.asksForRelease { round.releaseFaults += ResourceUsage.now().pageFaults }
        atMark?(.released)
        return round
    }

    /// What a plan has that the trial does beside submitting, looked up before the clock starts.
    private struct Features {
        let storm: Storm?
        let cancels: Bool
        /// Whether drain and teardown are reported together, as what letting go of the operations takes.
        let asksForRelease: Bool

        init(_ plan: WorkloadPlan) {
            storm = plan.storm
            cancels = plan.cancellation != nil
            asksForRelease = plan.ballast != nil
        }
    }

    private mutating func run(
        _ plan: WorkloadPlan, _ features: Features, _ backend: any Backend, _ producers: Producers,
        _ atMark: ((Mark) -> Void)?
    ) {
        backend.build()
        built = MonotonicClock.now()
        let storm = features.storm.map { StormThread($0, on: backend) }
        pace = producers.submit(to: backend)
        submitted = MonotonicClock.now()
        if plan.startsSuspended { atMark?(.pending) }
        cancelled = submitted
        if features.cancels {
            producers.cancel(on: backend)
            cancelled = MonotonicClock.now()
        }
        // One system call for all operations, within `drain`.
        if features.asksForRelease { releaseFaults -= ResourceUsage.now().pageFaults }
        if plan.startsSuspended { backend.release() }
        backend.drain()
        drained = MonotonicClock.now()
        if let storm { (holds, stormUsage) = storm.end() }
        atMark?(.drained)
        backend.attest()
    }
}

/// Keeps a queue from one phase of a sequence to the next.
final class QueueKeeper {
    var queue: AnyObject?
}
