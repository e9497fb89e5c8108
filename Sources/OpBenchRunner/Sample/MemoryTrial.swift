import Glibc
import OpBenchBackends
import OpBenchModel

/// A memory sample: jemalloc's figures between the phases of a round. If jemalloc does not serve the process, the peak
/// is the only figure, since the kernel reports it.
struct MemoryTrial {
    let trial: Trial

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .marked)
        defer { body.deallocate() }
        let probe: HeapProbe
        do {
            probe = try HeapProbe()
        } catch {
            _ = Round.run(trial.plan, by: trial.factory, body, producers: producers)
            trial.judge(body, into: &report)
            report.note("no heap figures: \(error.reason); \(error.remedy)")
            return reportPeak(into: &report)
        }
        if trial.flavour == .allocations { return count(body, probe, producers, into: &report) }
        let (_, readings) = round(body, probe, producers)
        trial.judge(body, into: &report)
        reportMarks(readings, into: &report)
        reportPeak(into: &report)
    }

    private func round(
        _ body: OperationBody, _ probe: HeapProbe, _ producers: Producers
    ) -> (elapsed: Int64, readings: Readings) {
        // Allocated before the first reading, so that storing a reading allocates nothing.
        var readings = Readings()
        let round = Round.run(trial.plan, by: trial.factory, body, producers: producers) { mark in
            readings.at[mark.rawValue] = mark == .released ? settled(probe) : probe.read()
            if mark == .before { trial.injectAllocations(per: trial.plan) }
        }
        return (round.elapsed, readings)
    }

    /// Counts the same round several times, after an uncounted one in which threads start. Threads that come and go and
    /// growing tables add to a round by chance, so the least count is what its operations need.
    private func count(
        _ body: OperationBody, _ probe: HeapProbe, _ producers: Producers, into report: inout SampleReport
    ) {
        let (elapsed, _) = round(body, probe, producers)
        var counts = [Readings]()
        repeat {
            trial.judge(body, into: &report)
            body.reset()
            counts.append(round(body, probe, producers).readings)
        } while counts.count < (elapsed < Self.longRound ? Self.countedRounds : 1)
        trial.judge(body, into: &report)
        reportAllocations(counts, into: &report)
    }

    private static let countedRounds = 3
    /// Rounds at least this long, in nanoseconds, are counted once: chance adds little to them.
    private static let longRound: Int64 = 1_000_000_000

    private struct Readings {
        /// Readings by mark; nil if the round did not reach it.
        var at = [HeapReading?](repeating: nil, count: Round.Mark.allCases.count)

        func difference(of count: KeyPath<HeapReading, Int>, from: Round.Mark, to: Round.Mark) -> Int? {
            guard let before = at[from.rawValue], let after = at[to.rawValue] else { return nil }
            return after[keyPath: count] - before[keyPath: count]
        }
    }

    /// Reads until two readings agree, for 50 ms at most, because pool threads may still be releasing their work.
    private func settled(_ probe: HeapProbe) -> HeapReading {
        var last = probe.read()
        for _ in 0..<25 {
            usleep(2000)
            let next = probe.read()
            if next.allocated == last.allocated { return next }
            last = next
        }
        return last
    }

    private func reportAllocations(_ rounds: [Readings], into report: inout SampleReport) {
        let counts: [(Metric, KeyPath<HeapReading, Int>, to: Round.Mark, phase: String)] = [
            (.allocations, \.allocationCount, .drained, "total"),
            (.allocatedBytes, \.allocatedBytesEver, .drained, "total"),
            (.unreleasedBytes, \.allocated, .released, Round.Mark.released.phase),
        ]
        for (metric, count, mark, phase) in counts {
            guard let least = rounds.compactMap({ $0.difference(of: count, from: .before, to: mark) }).min() else {
                continue
            }
            report.add(metric, "total", Double(least), phase: phase, operations: trial.plan.operationCount)
        }
    }

    private func reportMarks(_ readings: Readings, into report: inout SampleReport) {
        guard let before = readings.at[Round.Mark.before.rawValue] else { return }
        let operations = trial.plan.operationCount
        for mark in Round.Mark.allCases {
            guard let reading = readings.at[mark.rawValue] else { continue }
            let phase = mark.phase
            for (metric, value) in [
                (Metric.heapAllocated, reading.allocated), (.heapActive, reading.active),
                (.heapResident, reading.resident), (.heapMapped, reading.mapped), (.heapRetained, reading.retained),
            ] {
                report.add(metric, "total", Double(value), phase: phase, operations: operations)
            }
            let more = Double(reading.allocated - before.allocated)
            if mark == .pending { report.add(.retainedBytes, "total", more, phase: phase, operations: operations) }
        }
    }

    private func reportPeak(into report: inout SampleReport) {
        guard let peak = ResourceUsage.peakResident else { return }
        report.add(.peakResident, "max", Double(peak), operations: trial.plan.operationCount)
    }
}

extension Trial {
    /// Allocates as often as the injected defect asks for, in a round of the plan.
    func injectAllocations(per plan: WorkloadPlan) {
        for _ in 0..<injectedAllocations * plan.operationCount { free(Self.allocate()) }
    }

    /// Not inlined, because the optimizer removes a malloc that is freed at once.
    @inline(never)
    private static func allocate() -> UnsafeMutableRawPointer? { malloc(16) }
}
