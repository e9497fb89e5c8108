import Dispatch
import OpBenchBackends
import OpBenchModel

/// One execution of a plan by one backend object: the phases, and clock readings between them.
struct Round: Sendable {
    /// Clock readings, in order.
    var begun: Int64 = 0
    var built: Int64 = 0
    var submitted: Int64 = 0
    /// Equal to `submitted` if nothing is cancelled.
    var cancelled: Int64 = 0
    var drained: Int64 = 0
    var teardownBegun: Int64 = 0
    var tornDown: Int64 = 0
    /// Page faults of drain and teardown if the plan measures the cost of releasing its operations; else 0.
    var releaseFaults = 0
    /// The storm's holds, if the plan has a storm.
    var holds: [Hold] = []
    /// The pace of its submission.
    var pace = Pace()
    /// The resources that the storm's thread used between its calls.
    var stormUsage = ResourceUsage()

    var build: Int64 { built - begun }
    /// Excludes the plan's own pauses.
    var submit: Int64 { submitted - built - pace.pausedNanoseconds }
    var cancel: Int64 { cancelled - submitted }
    /// The time of draining, without the holds.
    var drain: Int64 { drained - cancelled - held }
    var teardown: Int64 { tornDown - teardownBegun }
    /// build + submit + cancel + drain, from one pair of readings, less pauses and holds.
    var total: Int64 { drained - begun - pace.pausedNanoseconds - held }
    var makespan: Int64 { drained - built - pace.pausedNanoseconds - held }
    /// `total` with pauses and holds: the time for which the round occupied the machine.
    var elapsed: Int64 { drained - begun }

    /// The time for which an obedient queue was suspended with everything submitted. A hold counts only from then on,
    /// because earlier the queue accepts operations during it.
    private var held: Int64 {
        holds.reduce(0) { $0 + max(0, min($1.resumeCalled, drained) - max($1.suspendReturned, cancelled)) }
    }

    /// Resources that the benchmark's own threads used between their calls to the queue.
    var pausedUsage: ResourceUsage {
        var usage = pace.pausedUsage
        usage.add(stormUsage)
        return usage
    }

    /// The instants at which memory is read.
    enum Mark: Int, CaseIterable, Sendable {
        case before, pending, drained, released

        /// The phase of its rows.
        var phase: String { "mark:\(self)" }
    }

    /// Runs a round.
    ///
    /// - Parameter atMark: called between the phases, for samples without timing.
    static func run(
        _ plan: WorkloadPlan, by factory: BackendFactory, _ body: OperationBody, producers: Producers,
        atMark: ((Mark) -> Void)? = nil
    ) -> Round {
        var round = Round()
        let make = factory.maker(for: plan)
        let features = Features(plan)
        atMark?(.before)
        round.begun = MonotonicClock.now()
        var backend: (any RoundBackend)? = make(plan, body)
        round.run(plan, features, backend!, producers, atMark)
        round.teardownBegun = MonotonicClock.now()
        backend?.teardown()
        backend = nil
        round.tornDown = MonotonicClock.now()
        if features.asksForRelease { round.releaseFaults += ResourceUsage.now().pageFaults }
        atMark?(.released)
        return round
    }

    /// The plan's features that the trial handles besides submitting, looked up before the clock starts.
    private struct Features {
        let storm: Storm?
        let cancels: Bool
        /// Whether drain and teardown are reported together, as the cost of releasing the operations.
        let asksForRelease: Bool

        init(_ plan: WorkloadPlan) {
            storm = plan.storm
            // Recorded cancellations are among the arrivals.
            cancels = plan.cancellation != nil && plan.replay == nil
            asksForRelease = plan.ballast != nil
        }
    }

    private mutating func run(
        _ plan: WorkloadPlan, _ features: Features, _ backend: any RoundBackend, _ producers: Producers,
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
        // One system call for all operations, counted in `drain`.
        if features.asksForRelease { releaseFaults -= ResourceUsage.now().pageFaults }
        if plan.startsSuspended { backend.release() }
        backend.drain()
        drained = MonotonicClock.now()
        if let storm { (holds, stormUsage) = storm.end() }
        atMark?(.drained)
        backend.attest()
    }
}

/// The thread that suspends and resumes a backend's queue during one round.
final class StormThread: @unchecked Sendable {
    private let storm: Storm
    private let isOver = Flag()
    /// Written by the thread, and read after it has ended.
    private var holds: [Hold] = []
    private var pausedUsage = ResourceUsage()
    private var thread: OwnThread?

    /// Starts immediately, with the first running time.
    init(_ storm: Storm, on backend: any RoundBackend) {
        self.storm = storm
        holds.reserveCapacity(storm.toggles)
        thread = OwnThread { [unowned self] in toggle(backend) }
    }

    /// Ends the storm, after the hold in progress at the latest, and leaves the queue running.
    ///
    /// - Returns: the holds, and the resources that the thread used between its calls.
    func end() -> (holds: [Hold], pausedUsage: ResourceUsage) {
        isOver.set()
        thread?.join()
        return (holds, pausedUsage)
    }

    private func toggle(_ backend: any RoundBackend) {
        for _ in 0..<storm.toggles {
            pause(storm.runNanoseconds)
            if isOver.isSet { return }
            backend.suspend()
            let suspended = MonotonicClock.now()
            pause(storm.holdNanoseconds)
            holds.append(Hold(suspendReturned: suspended, resumeCalled: MonotonicClock.now()))
            backend.resume()
        }
    }

    /// Sleeps for the time, or until the storm is over.
    private func pause(_ nanoseconds: Int) {
        let before = ResourceUsage.ofThisThread()
        defer { pausedUsage.add(from: before, to: .ofThisThread()) }
        let slice: Int64 = 2_000_000
        let end = MonotonicClock.now() + Int64(nanoseconds)
        while !isOver.isSet {
            let next = min(end, MonotonicClock.now() + slice)
            MonotonicClock.sleep(until: next)
            if next == end { return }
        }
    }
}

/// One suspension as seen by the storm's thread, in nanoseconds of the monotonic clock.
struct Hold: Sendable, Equatable {
    /// `suspend` had returned.
    var suspendReturned: Int64
    /// `resume` was about to be called.
    var resumeCalled: Int64
}
