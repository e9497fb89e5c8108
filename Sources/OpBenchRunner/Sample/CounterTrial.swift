import OpBenchBackends
import OpBenchModel

/// A sample that counts the processor's events, in rounds without time stamps. It is a kind of its own: the kernel
/// saves and restores a thread's counters at each of its switches, which adds to the times of a queue.
struct CounterTrial {
    let trial: Trial
    let counters: HardwareCounters

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .marked)
        defer { body.deallocate() }
        var counts = HardwareCounts()
        var rounds = 0
        _ = trial.repeatRounds {
            var before: [CounterReading?] = []
            let round = Round.run(trial.plan, by: trial.factory, body, producers: producers) { [trial, counters] mark in
                switch mark {
                case .before:
                    before = counters.read()
                    trial.injectAllocations(per: trial.plan)
                case .drained: counts.add(from: before, to: counters.read())
                case .pending, .released: break
                }
            }
            rounds += 1
            trial.judge(body, into: &report)
            body.reset()
            return round.elapsed
        }
        report.add(.rounds, "total", Double(rounds), operations: trial.plan.operationCount * rounds)
        counts.report(of: counters, operations: trial.plan.operationCount * rounds, into: &report)
    }
}

/// The counts of a sample's rounds.
struct HardwareCounts {
    /// In the order of `HardwareEvent.allCases`; nil for a counter that is not open, or could not be read.
    private var sums: [CounterReading?]

    init() { sums = HardwareEvent.allCases.map { _ in CounterReading() } }

    /// Adds what was counted between two readings.
    mutating func add(from before: [CounterReading?], to after: [CounterReading?]) {
        for index in sums.indices {
            guard let sum = sums[index], index < before.count, let from = before[index], let to = after[index] else {
                sums[index] = nil
                continue
            }
            sums[index] = CounterReading(
                count: sum.count &+ to.count &- from.count, enabled: sum.enabled &+ to.enabled &- from.enabled,
                running: sum.running &+ to.running &- from.running)
        }
    }

    /// Adds the figures. A counter that shared the processor's counters with others has none: what it did not see can
    /// only be guessed.
    func report(of counters: HardwareCounters, operations: Int, into report: inout SampleReport) {
        for (event, sum) in zip(HardwareEvent.allCases, sums) {
            if let failure = counters.failures[event] {
                report.note("no \(event.metric.name): \(failure.reason)")
            } else if let sum, sum.running > 0, sum.running >= sum.enabled {
                report.add(event.metric, "total", Double(sum.count), phase: "total", operations: operations)
            } else if sum == nil {
                report.note("no \(event.metric.name): its counter could not be read in some round")
            } else {
                report.note(
                    "no \(event.metric.name): it was counted for a part of the time only, as others use the "
                        + "processor's counters; sudo sysctl kernel.nmi_watchdog=0 frees one")
            }
        }
    }
}
