import OpBenchBackends
import OpBenchModel

/// The clock of a pacer; tests use a manual one.
struct PaceClock: Sendable {
    var now: @Sendable () -> Int64
    /// Returns at the given instant, or at once if it has passed.
    var sleep: @Sendable (_ until: Int64) -> Void

    static let monotonic = PaceClock(now: { MonotonicClock.now() }, sleep: { MonotonicClock.sleep(until: $0) })
}

/// The submission of a plan.
struct Pace: Sendable {
    /// The plan's own pauses between operations, which count in no phase.
    var pausedNanoseconds: Int64 = 0
    /// Resources that the submitting thread used during pauses.
    var pausedUsage = ResourceUsage()
    /// The instant that the plan's arrivals are relative to.
    var firstArrival: Int64 = 0
}

/// Submits a plan that has its own pace, from the calling thread.
struct Pacer: Sendable {
    let plan: WorkloadPlan
    var clock = PaceClock.monotonic

    /// How long before an arrival the thread stops sleeping and polls the clock, which covers the usual delay of a
    /// sleep.
    static let watchNanoseconds: Int64 = 100_000

    /// Submits the plan; returns when every submitting call has returned.
    func submit(to backend: any RoundBackend) -> Pace {
        switch plan.pacing {
        case nil:
            backend.submit(0..<plan.operationCount)
            return Pace()
        case .bursts(let size, let pause, let staysAwake):
            return submitBursts(of: size, pause: Int64(pause), staysAwake: staysAwake, to: backend)
        case .arrivals(let instants): return submit(at: instants, to: backend)
        }
    }

    private func submitBursts(of size: Int, pause: Int64, staysAwake: Bool, to backend: any RoundBackend) -> Pace {
        var pace = Pace()
        var next = 0
        while next < plan.operationCount {
            let burst = next..<min(next + size, plan.operationCount)
            backend.submit(burst)
            backend.drain()
            next = burst.upperBound
            guard pause > 0, next < plan.operationCount else { continue }
            let ended = clock.now()
            let before = ResourceUsage.ofThisThread()
            if staysAwake { while clock.now() < ended + pause {} } else { clock.sleep(ended + pause) }
            pace.pausedUsage.add(from: before, to: .ofThisThread())
            pace.pausedNanoseconds += clock.now() - ended
        }
        return pace
    }

    /// Submits each operation at its instant. Late arrivals are submitted at once: a delay of this thread shifts no
    /// later instants.
    ///
    /// In a replay, calls that cancel come between. The thread only sleeps there: polling would take a processor from
    /// bodies that the program ran on it.
    private func submit(at instants: [Int64], to backend: any RoundBackend) -> Pace {
        let pace = Pace(firstArrival: clock.now())
        let replay = plan.replay
        let watch = replay == nil ? Self.watchNanoseconds : 0
        var cancellations = (replay?.cancellations ?? [])[...]
        func cancel(until instant: Int64) {
            while let next = cancellations.first, next.instant < instant {
                wait(until: pace.firstArrival + next.instant, watching: watch)
                backend.cancel(next.operation..<next.operation + 1)
                cancellations.removeFirst()
            }
        }
        for (operation, instant) in instants.enumerated() {
            if let stall = plan.stall, stall.stallsSubmitter, stall.operation == operation {
                clock.sleep(clock.now() + Int64(stall.nanoseconds))
            }
            cancel(until: instant)
            wait(until: pace.firstArrival + instant, watching: watch)
            backend.submit(operation..<operation + 1)
        }
        cancel(until: .max)
        return pace
    }

    private func wait(until instant: Int64, watching watch: Int64) {
        while true {
            let left = instant - clock.now()
            if left <= 0 { return }
            if left > watch { clock.sleep(instant - watch) }
        }
    }
}
