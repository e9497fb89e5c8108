import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

/// The individual figures of a run.
struct RunFigureTests {
    private func figure(_ rows: Rows, _ metric: String, phase: String = "total", side: String = "") throws -> RunFigure
    {
        try #require(
            RunFigure.all(of: rows.rows).first {
                $0.name.metric == metric && $0.name.phase == phase && $0.name.side == side
                    && $0.name.backend == .engine
            })
    }

    private func blocks(_ count: Int, sides: [String] = [""]) -> Rows {
        var rows = Rows()
        for block in 0..<count {
            for side in sides {
                let rank = Double((block * 5) % 7)
                let seconds = (side == "head" ? 0.2 : 0.1) * (1 + rank / 50)
                rows.addThroughput(block: block, seconds: seconds, side: side)
                rows.addThroughput(.dispatch, block: block, seconds: seconds * 2 + Double(block) / 500, side: side)
            }
        }
        return rows
    }

    @Test("the ratio to Dispatch and its interval match the summary")
    func ratio() throws {
        let rows = blocks(7)
        let summary = try #require(summarize(rows.rows).first { $0.backend == .engine })
        let ratio = try figure(rows, "time_ratio")
        #expect(ratio.value == summary[.timeRatio].value)
        #expect(ratio.low == summary[.timeRatio].low && ratio.high == summary[.timeRatio].high && ratio.low != nil)
        #expect(ratio.samples == 7)
        #expect(
            !RunFigure.all(of: rows.rows).contains { $0.name.metric == "time_ratio" && $0.name.backend == .dispatch })
    }

    @Test("times are per operation: the median, with an interval around it from six samples on")
    func times() throws {
        let time = try figure(blocks(7), "time")
        let values = (0..<7).map { (rank: Int) -> Double in 100_000 * (1 + Double(rank) / 50) }
        #expect(abs(time.value / values[3] - 1) < 1e-12)
        let (low, high) = (try #require(time.low), try #require(time.high))
        #expect(low < time.value && time.value < high && values[0] <= low && high <= values[6])
        let few = try figure(blocks(5), "time")
        #expect(few.low == nil && few.high == nil && few.samples == 5)
    }

    @Test("the sides of two builds are separate figures")
    func sides() throws {
        let rows = blocks(7, sides: ["base", "head"])
        let (base, head) = (try figure(rows, "time", side: "base"), try figure(rows, "time", side: "head"))
        #expect(abs(head.value / base.value - 2) < 1e-9)
        #expect(Set(RunFigure.all(of: rows.rows).map(\.name.side)) == ["base", "head"])
    }

    @Test("a peak is the maximum, without an interval; equal counts have an interval of width 0")
    func peaksAndCounts() throws {
        var rows = Rows()
        for block in 0..<6 {
            rows.add(
                kind: "memory", block: block,
                figures: [
                    (.peakResident, "max", "", "", Double(block), 10), (.allocations, "total", "total", "", 20, 10),
                    (.load, "mean", "", "", 1, 10),
                ])
        }
        let peak = try figure(rows, "peak_resident", phase: "")
        #expect(peak.value == 5 && peak.low == nil)
        let count = try figure(rows, "allocations")
        #expect(count.value == 2 && count.low == 2 && count.high == 2)
        // A figure without a direction is not kept.
        #expect(!RunFigure.all(of: rows.rows).contains { $0.name.metric == "load" })
    }

    @Test("figures are sorted by name, without duplicates")
    func order() {
        let figures = RunFigure.all(of: blocks(3, sides: ["base", "head"]).rows)
        #expect(figures.map(\.name) == figures.map(\.name).sorted())
        #expect(Set(figures.map(\.name)).count == figures.count && figures.count > 4)
    }
}
