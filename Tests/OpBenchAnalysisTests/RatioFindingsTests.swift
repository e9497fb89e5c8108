import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

/// Verdicts of backends against the baseline, from the intervals of ratios.
@Suite("Ratio findings")
struct RatioFindingsTests {
    private func row(
        _ backend: BackendID, cell: String = "w", ratio: Double? = 1, low: Double? = nil, high: Double? = nil,
        to baseline: BackendID = .dispatch
    ) -> SummaryRow {
        var row = SummaryRow(
            runID: "r", workload: "w", cellID: cell, backend: backend, status: .ok, samples: 7, parameters: [:])
        row[.timeRatio] = Estimate(value: ratio, low: low, high: high)
        row.ratioTo = ratio.map { _ in baseline }
        return row
    }

    @Test("An interval beyond 1 is a verdict; one that includes 1 is no difference; without one there is no verdict")
    func verdicts() {
        #expect(row(.engine, ratio: 0.8, low: 0.7, high: 0.99).ratioVerdict == .faster)
        #expect(row(.engine, ratio: 1.2, low: 1.01, high: 1.3).ratioVerdict == .slower)
        #expect(row(.engine, ratio: 0.8, low: 0.7, high: 1).ratioVerdict == .noDifference)
        #expect(row(.engine, ratio: 1.2, low: 1, high: 1.4).ratioVerdict == .noDifference)
        #expect(row(.engine, ratio: 0.5).ratioVerdict == .unknown)
        #expect(row(.engine, ratio: nil).ratioVerdict == nil)
        #expect(row(.dispatch, low: 1, high: 1).ratioVerdict == nil)
        var unlike = row(.engine, ratio: 0.8, low: 0.7, high: 0.9)
        unlike.isRatioUnlike = true
        #expect(unlike.ratioVerdict == .incomparable)
    }

    @Test(
        "On a busy machine a ratio of times is a difference only if CPU time differs on the same side",
        arguments: [
            (0.84, 1, .noDifference), (1.42, 1, .noDifference), (0.84, 1.1, .noDifference), (0.84, 0.9, .faster),
            (1.42, 1.1, .slower), (1, 1, .noDifference),
        ] as [(Double, Double, RatioVerdict)])
    func busyMachine(time: Double, cpu: Double, expected: RatioVerdict) throws {
        func verdict(_ flags: [SampleFlag]) throws -> RatioVerdict? {
            var rows = Rows()
            for block in 0..<15 {
                let noise = 1 + 0.01 * Double(block - 7)
                for (backend, time, cpu) in [(BackendID.dispatch, 1, 1), (.engine, time * noise, cpu * noise)] {
                    rows.add(
                        backend, kind: "throughput", block: block, flags: flags,
                        figures: [
                            (.time, "total", "total", "", time * 1e9, 1000),
                            (.cpuTime, "total", "total", "", cpu * 1e9, 1000),
                        ])
                }
            }
            return try #require(summarize(rows.rows).first { $0.backend == .engine }).ratioVerdict
        }
        #expect(try verdict([.noisy]) == expected)
        let quiet: RatioVerdict = time < 1 ? .faster : time > 1 ? .slower : .noDifference
        #expect(try verdict([]) == quiet && verdict([.noisy, .waits]) == quiet)
    }

    @Test("Backends come in the rows' order, their cells by ratio; the baseline is its shortest form")
    func findings() throws {
        let notify = BackendID(rawValue: "dispatch:notify")
        let rows = [
            row(.foundation, cell: "a", ratio: 9, low: 8, high: 10),
            row(.engine, cell: "a", ratio: 0.9, low: 0.8, high: 0.95, to: notify),
            row(.engine, cell: "b", ratio: 0.5, low: 0.4, high: 0.6), row(.dispatch, cell: "b"),
            row(.foundation, cell: "b", ratio: 3, low: 2, high: 4),
        ]
        let findings = RatioFindings.all(of: rows)
        #expect(findings.map(\.backend.backend) == [.foundation, .engine])
        #expect(findings.allSatisfy { $0.baseline == .dispatch })
        #expect(findings[1][.faster].map(\.cellID) == ["b", "a"] && findings[1][.slower].isEmpty)
        #expect(findings[0][.slower].map(\.cellID) == ["b", "a"])
        #expect(RatioFindings.all(of: [row(.engine, ratio: nil)]).isEmpty)
    }
}
