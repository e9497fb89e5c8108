import Glibc
import OpBenchBackends
import OpBenchModel

/// The memory flavours of a sample: jemalloc's account between the phases of one round. Where jemalloc does not serve the
/// process, there are no figures but the peak, which the kernel tells.
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
        // In place before the first reading, so that keeping a reading allocates nothing.
        var readings = Readings()
        _ = Round.run(trial.plan, by: trial.factory, body, producers: producers) { mark in
            readings.at[mark.index] = mark == .released ? settled(probe) : probe.read()
            if mark == .before { injectAllocations() }
        }
        trial.judge(body, into: &report)
        if trial.flavour == .allocations {
            reportAllocations(readings, into: &report)
        } else {
            reportMarks(readings, into: &report)
            reportPeak(into: &report)
        }
    }

    private struct Readings {
        /// By mark; nil where the round did not come by.
        var at = [HeapReading?](repeating: nil, count: Round.Mark.allCases.count)
    }

    private func injectAllocations() {
        for _ in 0..<trial.injectedAllocations * trial.plan.operationCount { free(Self.allocate()) }
    }

    /// Out of the optimizer's sight, which leaves out a malloc that is freed at once.
    @inline(never)
    private static func allocate() -> UnsafeMutableRawPointer? { malloc(16) }

    /// Threads of a pool may still be letting go of what they ran: reads until two readings agree, for 50 ms at most.
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

    private func reportAllocations(_ readings: Readings, into report: inout SampleReport) {
        guard let before = readings.at[Round.Mark.before.index], let drained = readings.at[Round.Mark.drained.index]
        else { return }
        let operations = trial.plan.operationCount
        report.add(
            .allocations, "total", Double(drained.allocationCount - before.allocationCount), phase: "total",
            operations: operations)
        report.add(
            .allocatedBytes, "total", Double(drained.allocatedBytesEver - before.allocatedBytesEver), phase: "total",
            operations: operations)
    }

    private func reportMarks(_ readings: Readings, into report: inout SampleReport) {
        guard let before = readings.at[Round.Mark.before.index] else { return }
        let operations = trial.plan.operationCount
        for mark in Round.Mark.allCases {
            guard let reading = readings.at[mark.index] else { continue }
            let phase = "mark:\(mark.rawValue)"
            for (metric, value) in [
                (Metric.heapAllocated, reading.allocated), (.heapActive, reading.active),
                (.heapResident, reading.resident), (.heapMapped, reading.mapped), (.heapRetained, reading.retained),
            ] {
                report.add(metric, "total", Double(value), phase: phase, operations: operations)
            }
            let more = Double(reading.allocated - before.allocated)
            if mark == .pending { report.add(.retainedBytes, "total", more, phase: phase, operations: operations) }
            if mark == .released { report.add(.unreleasedBytes, "total", more, phase: phase, operations: operations) }
        }
    }

    private func reportPeak(into report: inout SampleReport) {
        guard let peak = ResourceUsage.peakResident else { return }
        report.add(.peakResident, "max", Double(peak), operations: trial.plan.operationCount)
    }
}
