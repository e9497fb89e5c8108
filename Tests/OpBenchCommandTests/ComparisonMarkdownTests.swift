import Foundation
import FoundationXML
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// The Markdown of a gate, as in a comment.
struct ComparisonMarkdownTests {
    private let golden = Golden("comparison-markdown")

    private func row(_ cell: String, _ verdict: Verdict) -> CompareRow {
        var row = CompareRow(
            FigureName(cellID: cell, backend: .engine, metric: "time", phase: "total", stat: "total"), verdict: verdict)
        let ratio = verdict == .improved ? 0.9 : 1.1
        row.base = 1000
        (row.head, row.ratio, row.ratioLow, row.ratioHigh) = (1000 * ratio, ratio, ratio - 0.05, ratio + 0.05)
        return row
    }

    private func report(_ rows: [CompareRow], _ outcome: GateOutcome?) throws -> ComparisonReport {
        ComparisonReport(rows: rows, outcome: outcome, compared: .goals([]))
    }

    private func text(_ rows: [CompareRow], _ outcome: GateOutcome?) throws -> String {
        ComparisonMarkdown.text(of: try report(rows, outcome))
    }

    @Test("the verdict is the first line; findings are open, and all figures are folded")
    func layout() throws {
        let text = try text([row("good", .pass), row("bad", .regression), row("faster", .improved)], .regression)
        let parts = text.components(separatedBy: "<details>")
        try #require(parts.count == 2)
        let (open, folded) = (parts[0], parts[1])
        #expect(open.contains("(bad)") && open.contains("(faster)") && !open.contains("(good)"))
        #expect(["good", "bad", "faster"].allSatisfy { folded.contains("| \($0) | ") })
        #expect(folded.hasPrefix("<summary>") && folded.hasSuffix("\n</details>\n"))
        golden.expect(text, "a regression among others")
    }

    @Test("each finding is one sentence, and the functions behind a regression have a command")
    func findings() throws {
        func finding(
            _ metric: String, _ ratio: Double?, _ stat: String = "total", cell: String = "each"
        ) -> CompareRow {
            var row = row("queue submission=\(cell) work_ns=0", ratio ?? 2 < 1 ? .improved : .regression)
            (row.metric, row.stat, row.phase, row.ratio) = (metric, stat, stat == "total" ? stat : "", ratio)
            (row.ratioLow, row.ratioHigh) = (ratio.map { $0 - 0.02 }, ratio.map { $0 + 0.02 })
            (row.base, row.head) = (metric == "allocations" ? 2 : 1000, 1000)
            row.head = ratio.map { row.base! * $0 } ?? 1100
            row.backend = BackendID(rawValue: "pool")
            return row
        }
        var absent = finding("time", 1)
        (absent.verdict, absent.head) = (.missing, nil)
        let rows = [
            finding("cpu_time", 1.32), finding("time", 0.9), finding("allocations", 0.5, cell: "refill"),
            finding("start_latency", 1.082, "p99"), finding("unreleased_bytes", nil), absent,
        ]
        let run = MeasuredRun("two", in: "results/two", samples: [], facts: nil)
        let report = ComparisonReport(rows: rows, outcome: .regression, compared: .sides(run))
        golden.expect(ComparisonMarkdown.text(of: report), "one sentence per finding")
    }

    @Test("explanations of regressions in the run's folder are folded, as text")
    func explained() throws {
        let folder = try ScratchFolder()
        try folder.write("w on engine, a|b\n  run<T>(): +1 ns\n", to: "why/w-explanation.txt")
        try folder.write("v on engine, 8 turns\n", to: "why/v-explanation.txt")
        let run = MeasuredRun("two", in: folder.root, samples: [], facts: nil)
        let report = ComparisonReport(rows: [row("w", .regression)], outcome: .regression, compared: .sides(run))
        let text = ComparisonMarkdown.text(of: report)
        #expect(text.contains("<summary>Explained: w on engine, a&#124;b</summary>"))
        #expect(text.contains("<pre>\n  run&#60;T&#62;(): +1 ns\n</pre>") && !text.contains("v on engine"))
    }

    @Test("a regression since a baseline is not one between the two builds, which explain would find nothing in")
    func drift() throws {
        let folder = try ScratchFolder()
        try folder.write("w on engine, 8 turns\n", to: "w-explanation.txt")
        let run = MeasuredRun("two", in: folder.root, samples: [], facts: nil)
        var drifted = row("w", .regression)
        drifted.against = "v1"
        func report(_ rows: [CompareRow]) -> ComparisonReport {
            ComparisonReport(rows: rows, outcome: .regression, compared: .sides(run))
        }
        #expect(report([drifted]).explainingWords == nil && report([drifted]).explanations.isEmpty)
        let both = report([row("w", .regression), drifted])
        #expect(both.explainingWords != nil && both.explanations.count == 1)
    }

    @Test("if everything passed, only the verdict is open")
    func pass() throws {
        golden.expect(try text([row("good", .pass)], .pass), "all passed")
        golden.expect(try text([], .missing), "no figure is judged")
        golden.expect(try text([row("good", .pass)], nil), "no gate")
    }

    @Test("the inputs of the comparison are below the verdict: commits, blocks and noise; also in the table")
    func origin() throws {
        var written = WrittenRun(name: "two")
        written.refs = ("main", "HEAD")
        written.commits = ("00a160b1c2d3", "afe90963d4e5")
        for block in 0..<25 {
            for side in ["base", "head"] {
                written.add(.engine, block: block, .time, 1, side: side, flags: block < 20 ? [.noisy] : [])
            }
        }
        let folder = try ScratchFolder()
        try written.write(to: folder.root)
        let report = ComparisonReport(
            rows: [row("good", .pass)], outcome: .pass, compared: .sides(try MeasuredRun("two", in: folder.root)))
        golden.expect(ComparisonMarkdown.text(of: report), "commits, blocks and noise")
        golden.expect(ComparisonTable.text(of: report, width: nil), "commits, blocks and noise, as a table")
    }

    @Test("inconclusive figures state which regression would have been detected: the greatest of theirs")
    func bound() throws {
        func open(_ high: Double?) -> CompareRow {
            var row = row("w", .inconclusive)
            (row.threshold, row.ratioLow, row.ratioHigh) = (0.03, high.map { 1 / $0 }, high)
            return row
        }
        var certain = open(3)
        certain.verdict = .pass
        let report = try report([open(1.05), open(1.1), certain], .inconclusive)
        let most = try #require(open(1.1).mostUnseen)
        #expect(try #require(report.bound).contains(Quantities.percent(most)))
        golden.expect(ComparisonMarkdown.text(of: report), "inconclusive figures")
        let one = try self.report([open(1.1), open(nil)], .inconclusive)
        golden.expect(try #require(one.bound), "one of two has no interval yet")
        #expect(try self.report([open(nil)], .inconclusive).bound == nil)
        #expect(try self.report([certain], .pass).bound == nil)
    }

    @Test(
        "JUnit succeeds if and only if the gate passes",
        arguments: [
            ([.pass], .pass, 0, 0), ([.pass, .regression], .regression, 1, 0), ([.inconclusive], .inconclusive, 0, 1),
            ([.pass], .badSample, 1, 0), ([], .missing, 1, 0), ([.missing], .missing, 1, 0),
        ] as [([Verdict], GateOutcome, Int, Int)])
    func junit(verdicts: [Verdict], outcome: GateOutcome, failures: Int, skipped: Int) throws {
        let text = JUnitReport.text(of: try report(verdicts.map { row("w", $0) }, outcome))
        #expect(text.contains("failures=\"\(failures)\" skipped=\"\(skipped)\""), "\(text)")
        #expect(text.components(separatedBy: "<failure").count == failures + 1)
        #expect(text.components(separatedBy: "<skipped message=").count == skipped + 1)
        #expect(text.contains("tests=\"\(text.components(separatedBy: "<testcase").count - 1)\""))
        #expect(XMLParser(data: Data(text.utf8)).parse())
    }

    @Test("a comment holds the text of any number of figures, and reports omissions")
    func size() throws {
        let rows = (0..<2000).map { row("cell number \($0) with a name", $0 % 2 == 0 ? .regression : .pass) }
        let text = try text(rows, .regression)
        #expect(text.utf8.count <= ComparisonMarkdown.sizeLimit + 1000 && text.utf8.count > 50_000)
        #expect(text.components(separatedBy: "--csv").count == 3)
    }
}
