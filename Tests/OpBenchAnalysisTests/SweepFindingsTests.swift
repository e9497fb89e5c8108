import Glibc
import OpBenchAnalysis
import Testing

@testable import OpBenchModel

/// The place on a sweep where a backend crosses a bound.
@Suite("Sweeps")
struct SweepFindingsTests {
    private func row(_ name: String, _ value: String, _ backend: BackendID = .engine) -> SummaryRow {
        SummaryRow(
            runID: "r", workload: "w", cellID: "w \(name)=\(value)", backend: backend, status: .ok, samples: 7,
            parameters: [name: value, "items_per_operation": "2"])
    }

    /// Rows of a backend with a constant overhead for an operation, in nanoseconds.
    private func grain(_ overhead: Double, _ work: [Int], _ backend: BackendID = .engine) -> [SummaryRow] {
        work.map { work in
            var row = row("work_ns", "\(work)", backend)
            let (own, time) = (2 * Double(work), 2 * Double(work) + overhead)
            row[.time] = Estimate(value: time, low: time * 0.9, high: time * 1.1)
            row[.schedulingEfficiency].value = own / time
            return row
        }
    }

    @Test("A constant overhead is the granularity at which half of the time is work, in work of an operation")
    func granularity() throws {
        let found = SweepFinding.all(of: grain(700, [100, 400, 1600]) + grain(9000, [400, 1600, 6400], .foundation))
        try #require(found.count == 2)
        #expect(found.map(\.backend.backend) == [.engine, .foundation] && found[0].kind == .granularity)
        guard case .at(let x, let low?, let high?) = found[0].place else { throw Missing() }
        #expect(abs(x - 700) < 1e-9 && low < 700 && high > 700 && low > 400 && high < 1200)
        #expect(SweepFinding.all(of: grain(10, [100, 400, 1600]))[0].place == .before(200))
        #expect(SweepFinding.all(of: grain(1e6, [100, 400, 1600]))[0].place == .after(3200))
    }

    @Test("An open loop's finding is the load at which its 99th percentile passes a millisecond")
    func load() throws {
        func rows(_ latencies: [Double?]) -> [SummaryRow] {
            zip(["0.2", "0.4", "0.8"], latencies).map { load, latency in
                var row = row("load", load)
                row[.intendedLatencyP99].value = latency
                if latency == nil { row.quality = SampleQuality(samples: 3, latencySamples: 3, overloaded: 3) }
                return row
            }
        }
        // Without intervals of the latencies there is none.
        guard case .at(let x, low: nil, high: nil) = SweepFinding.all(of: rows([1e5, 1e5, 1e7]))[0].place
        else { throw Missing() }
        #expect(abs(x - 0.4 * sqrt(2)) < 1e-9)
        #expect(SweepFinding.all(of: rows([1e5, 1e5, nil]))[0].place == .between(0.4, 0.8))
    }

    @Test("Cells that differ in more than the parameter, or in few values, have no finding")
    func none() {
        var mixed = grain(700, [100, 400, 1600])
        mixed[1].parameters["producers"] = "2"
        #expect(SweepFinding.all(of: mixed).isEmpty)
        #expect(SweepFinding.all(of: grain(700, [100, 1600])).isEmpty)
        #expect(SweepFinding.all(of: grain(700, [100, 400, 1600], .serial)).isEmpty)
    }

    private struct Missing: Error {}
}
