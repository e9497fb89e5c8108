import OpBenchModel
import Testing

@testable import OpBenchAnalysis

@Suite struct IntervalWidthsTests {
    @Test func `a cell's width is that of its widest ratio, whatever the drift`() {
        var rows = Rows()
        for block in 0..<7 {
            let drift = 1 + Double(block)
            rows.addThroughput(.dispatch, block: block, seconds: drift, cell: "drifts")
            rows.addThroughput(.engine, block: block, seconds: 2 * drift, cell: "drifts")
            rows.addThroughput(.dispatch, block: block, seconds: 1, cell: "varies")
            rows.addThroughput(.engine, block: block, seconds: 1 + 0.1 * Double(block), cell: "varies")
        }
        let widths = IntervalWidths.ofRatios(rows.rows)
        #expect(widths["drifts"].map { $0 < 1e-9 } == true)
        #expect(widths["varies"].map { (0.05...0.3).contains($0) } == true)
    }

    @Test func `without a baseline it is the width of the time per operation`() {
        var rows = Rows()
        for block in 0..<7 { rows.addThroughput(.engine, block: block, seconds: 1 + 0.1 * Double(block)) }
        for block in 0..<7 {
            rows.addThroughput(.dispatch, block: block, seconds: 1 + 0.1 * Double(block), cell: "baseline")
        }
        let widths = IntervalWidths.ofRatios(rows.rows)
        #expect(widths["w"].map { abs($0 - 0.3 / 1.3) < 1e-9 } == true)
        #expect(widths["baseline"] == widths["w"])
    }

    @Test func `a cell without figures has no width`() {
        var rows = Rows()
        rows.add(kind: "throughput", block: 0, status: .crashed)
        #expect(IntervalWidths.ofRatios(rows.rows).isEmpty)
    }
}
