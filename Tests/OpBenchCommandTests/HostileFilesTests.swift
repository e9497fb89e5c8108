import Foundation
import FoundationXML
import OpBenchAnalysis
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

/// Rows with hostile text and extreme figures, and files with changed bytes: all output is well-formed in its own
/// language, or the files are rejected; nothing traps. `OPBENCH_TEST=size=…` ÷ 100 files per seed.
@Suite("Hostile files") struct HostileFilesTests {
    private static let seeds: [UInt64] = [11, 12, 13, 14]

    /// The rows of a small run of two backends, most of them odd in some way.
    private func rows(_ texts: inout HostileText, _ generator: inout SeededGenerator, sides: [String]) -> [SampleRow] {
        let (cell, operationClass) = (texts.next(), texts.next())
        let metrics: [(Metric, String, String)] = [
            (.time, "total", "total"), (.operationThroughput, "rate", "total"), (.startLatency, "p99", ""),
            (.allocations, "total", "total"), (.inversions, "total", ""), (.rounds, "total", ""),
        ]
        var rows: [SampleRow] = []
        for block in 0..<Int.random(in: 1...12, using: &generator) {
            for backend in [BackendID.engine, .dispatch] {
                for side in sides {
                    for (metric, stat, phase) in metrics {
                        let isOdd = Bool.random(using: &generator)
                        rows.append(
                            SampleRow(
                                runID: "run", sampleID: "\(rows.count)-throughput", timestampUTC: texts.next(),
                                workload: "w", cellID: isOdd ? cell : "w", backend: backend, side: side, block: block,
                                position: 0, phase: phase, operationClass: isOdd ? operationClass : "", status: .ok,
                                flags: [], metric: metric.name, stat: stat, value: texts.figure(metric.allows),
                                operations: [1, 1000, .max].randomElement(using: &generator)!, notes: texts.next(),
                                parameters: ["items": texts.next()].filter { !$0.value.isEmpty }))
                    }
                }
            }
        }
        return rows
    }

    private let policy = GatePolicy(rules: [
        GatePolicy.Rule(
            {
                var selector = GatePolicy.Selector()
                selector.metric = "*"
                return selector
            }(), FigureRule(maxRegression: 0.01))
    ])

    /// Bounds on every figure, as a value and as a ratio.
    private func goalReport(
        _ rows: [SampleRow], _ run: ([SampleRow]) -> MeasuredRun
    ) throws -> ComparisonReport {
        var selector = GatePolicy.Selector()
        selector.metric = "*"
        let references: [GatePolicy.Rule.Reference?] = [nil, .fastest([.dispatch]), .cell(rows[0].cellID)]
        let goals = references.map { GatePolicy.Rule(selector, FigureRule(atMost: 1), against: $0) }
        let judged = try GoalJudgement(goals, of: [("run", rows)]).rows
        return ComparisonReport(
            rows: judged, outcome: GateOutcome(judged, hasBadSample: false, isLenient: true),
            compared: .goals([run(rows)]))
    }

    /// Everything that opbench makes from rows.
    private func checkAll(_ base: [SampleRow], _ head: [SampleRow], sides: Bool) throws {
        let question = Comparison.Question(policy)
        let comparison =
            try sides
            ? Comparison(sidesOf: base, question: question) : Comparison(base: base, head: head, question: question)
        let outcome = GateOutcome(policy.asked(among: comparison.rows), hasBadSample: false, isLenient: true)
        func run(_ rows: [SampleRow]) -> MeasuredRun { MeasuredRun("run", in: "none", samples: rows, facts: nil) }
        let report = ComparisonReport(
            rows: comparison.rows, outcome: outcome,
            compared: sides ? .sides(run(base)) : .runs([run(base), run(head)]))
        let goals = try goalReport(base, run)
        let summary = (sides ? ["base", "head"] : [""]).flatMap { summarize(base, side: $0) }
        for text in [
            SummaryTable(summary, SummaryContext(clockResolution: 1)).text, ComparisonTable.text(of: report),
            CellTable.text(of: summary, SummaryContext(clockResolution: 1), width: 20), ComparisonTable.text(of: goals),
            ComparisonTable.text(of: goals, width: 20), ComparisonMarkdown.text(of: goals),
            SummaryTable(summary, SummaryContext(clockResolution: 1, isQuick: true)).markdown,
            CSVFile.text(of: goals.rows),
            ComparisonMarkdown.text(of: report), CSVFile.text(of: summary),
            CSVFile.text(of: comparison.rows),
        ] {
            let commands = text.split(separator: "\n").filter { $0.contains("::") || $0.contains("##[") }
            #expect(commands == [])
            #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.isUnprintable })
            // Figures are numbers.
            #expect(!text.utf8.contains(",inf".utf8) && !text.utf8.contains(",nan".utf8))
        }
        #expect(XMLParser(data: Data(JUnitReport.text(of: goals).utf8)).parse())
        _ = try CSVFile.rows(CompareRow.self, text: CSVFile.text(of: goals.rows), file: "x")
        _ = try CSVFile.rows(CompareRow.self, text: CSVFile.text(of: comparison.rows), file: "x")
        #expect(XMLParser(data: Data(JUnitReport.text(of: report).utf8)).parse())
        let commands = GitHubAnnotations.text(of: report) + GitHubAnnotations.text(of: goals)
        for line in commands.utf8.split(separator: UInt8(ascii: "\n")) {
            #expect(line.starts(with: "::error title=".utf8) || line.starts(with: "::warning title=".utf8))
        }
    }

    @Test("Hostile fields and figures: every table, file and report is well-formed", arguments: seeds)
    func fields(seed: UInt64) throws {
        var texts = HostileText(seed: seed)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<HostileText.count / 100 / Self.seeds.count {
            let sides = Bool.random(using: &generator)
            let names = sides ? ["base", "head"] : [""]
            let (base, head) = (rows(&texts, &generator, sides: names), rows(&texts, &generator, sides: names))
            let text = CSVFile.text(of: base)
            let read = try CSVFile.rows(SampleRow.self, text: text, file: "x")
            #expect(CSVFile.text(of: read).utf8.elementsEqual(text.utf8))
            try checkAll(read, head, sides: sides)
        }
    }

    @Test("Changed bytes: a samples.csv is rejected, or all its output is well-formed", arguments: seeds)
    func changedRows(seed: UInt64) throws {
        var texts = HostileText(seed: seed)
        var generator = SeededGenerator(seed: seed)
        let whole = Array(CSVFile.text(of: rows(&texts, &generator, sides: [""])).utf8)
        let head = rows(&texts, &generator, sides: [""])
        for _ in 0..<HostileText.count / 20 / Self.seeds.count {
            let text = String(decoding: texts.mutated(whole), as: UTF8.self)
            guard let read = try refusedOr({ try CSVFile.rows(SampleRow.self, text: text, file: "x") }), !read.isEmpty
            else { continue }
            try checkAll(read, head, sides: false)
        }
    }

    /// nil for rejected input; any other error is unexpected.
    private func refusedOr<Value>(_ body: () throws -> Value) throws -> Value? {
        do { return try body() } catch let error as InputError {
            #expect(!error.message.isEmpty && !error.remedy.isEmpty)
            return nil
        } catch let mistakes as InputErrors {
            #expect(!mistakes.errors.isEmpty)
            #expect(mistakes.errors.allSatisfy { !$0.message.isEmpty && !$0.remedy.isEmpty })
            return nil
        }
    }
}
