import Foundation
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

/// `opbench show`: recorded runs, which stay unchanged.
@Suite("Show")
struct ShowTests {
    private let folder: ScratchFolder
    private let golden = Golden("show")

    init() throws {
        folder = try ScratchFolder()
        try write(Self.rows("night"), to: "results/night")
    }

    private static func rows(_ runID: String, sides: [String] = [""], blocks: Int = 7) -> [SampleRow] {
        var rows: [SampleRow] = []
        for items in ["20", "30"] {
            for block in 0..<blocks {
                for side in sides {
                    for (backend, seconds) in [(BackendID.engine, 1.0), (.dispatch, 2), (.serial, 4)] {
                        let id = "\(rows.count)-throughput"
                        for (metric, stat, value) in [
                            ("time", "total", seconds), ("throughput_ops", "rate", 1000 / seconds),
                        ] {
                            rows.append(
                                SampleRow(
                                    runID: runID, sampleID: id, timestampUTC: "2026-01-02T03:04:05.678Z", workload: "w",
                                    cellID: items == "20" ? "w" : "w items=30", backend: backend, side: side,
                                    block: block, position: 0, phase: "total",
                                    status: block == 6 && backend == .serial ? .crashed : .ok,
                                    flags: block == 0 ? [.noisy] : [], metric: metric, stat: stat,
                                    value: value * (1 + Double(block) / 100), operations: 1000,
                                    parameters: ["items": items]))
                        }
                    }
                }
            }
        }
        return rows
    }

    private func write(_ rows: [SampleRow], to run: String) throws {
        try folder.write(CSVFile.text(of: rows), to: "\(run)/samples.csv")
    }

    private func shown(
        _ name: String = "night", ratioTo: BackendID = .dispatch, filter: String? = nil, _ words: [String] = ["--wide"]
    ) throws -> String {
        let run = try MeasuredRun(name, in: folder.root + "/results", isTornAllowed: true)
        let shown = try ShownRun(run, ratioTo: ratioTo, filter: filter.map { try CellFilter($0) })
        return try PresentationOptions.parse(words).text(of: [shown])
    }

    @Test("The run's facts, and its summary")
    func whole() throws { golden.expect(try shown(), "a run") }

    @Test("Ratios to another backend, only some cells, and other formats")
    func options() throws {
        #expect(try shown(ratioTo: .serial, ["--format", "markdown"]).contains("| vs serial |"))
        #expect(try shown(ratioTo: .serial).contains("0.25×"))
        let some = try shown(filter: "items=30")
        #expect(some.contains("w items=30\n") && !some.contains("items=20"))
        // Cells are matched by the text in the table, even if their ids differ.
        #expect(try shown(filter: "items=20$").contains("engine"))
        let rows = try shown(filter: "items=30", ["--format", "csv"])
        #expect(rows.split(separator: "\n").count == 4 && rows.hasPrefix(SummaryRow.columns.joined(separator: ",")))
        let markdown = try shown(["--format", "markdown"])
        #expect(markdown.contains(": night\n") && markdown.contains("| items=30 | engine |"))
    }

    private func shown(_ words: [String]) throws -> String { try shown("night", words) }

    @Test("Both builds of an interleaved run are next to each other")
    func sides() throws {
        try write(Self.rows("two", sides: ["base", "head"]), to: "results/two")
        let text = try shown("two", [])
        let lines = text.split(separator: "\n")
        let rule = try #require(lines.firstIndex { $0.hasPrefix("--") })
        // A title may take two lines.
        let words = lines[..<rule].suffix(2).flatMap { line in
            line.matches(of: /\w+/).map {
                (place: line.distance(from: line.startIndex, to: $0.startIndex), word: $0.output)
            }
        }
        let titles = words.sorted { $0.place < $1.place }.map(\.word).filter {
            !["items", "base", "head"].contains($0)
        }
        #expect(titles == ["engine", "engine", "dispatch", "dispatch", "serial", "serial"], "\(text)")
    }

    @Test("A run that was killed within a line is shown up to there")
    func torn() throws {
        let whole = CSVFile.text(of: Self.rows("torn"))
        try folder.write(String(whole.dropLast(30)), to: "results/torn/samples.csv")
        #expect(try shown("torn").contains(" 42,"))
    }

    @Test("Missing files are reported by path")
    func refusals() throws {
        #expect(throws: InputError.self) { try shown("nowhere") }
        let none = #expect(throws: InputError.self) { try shown(filter: "items=4") }
        #expect(none?.file == "--filter" && none?.message.contains("night") == true)
        let other = #expect(throws: InputError.self) { try shown(ratioTo: BackendID(rawValue: "serail")) }
        #expect(other?.file == "--ratio-to" && other?.remedy.contains("\"serial\"") == true)
    }

    @Test("The command only reads: no file is created or changed")
    func readOnly() async throws {
        for summary in [nil, "old"] {
            if let summary { try folder.write(summary, to: "results/night/summary.csv") }
            let (files, before) = (folder.contents(), try folder.states("results/night"))
            for words in [
                ["night"], ["results/night", "--format", "csv"], ["--ratio-to", "serial", "night", "night"],
            ] {
                let result = try await OpBenchProcess.runHere(["show"] + words, in: folder)
                #expect(result.status == 0 && result.errors == "", "\(result.errors)")
                #expect(result.output.contains("engine"))
                #expect(result.output.split(separator: "\n").allSatisfy { words.contains("csv") || $0.count <= 80 })
            }
            #expect(folder.contents() == files)
            #expect(try folder.states("results/night") == before)
        }
    }
}

/// `opbench describe`
@Suite("Explained columns")
struct ExplainedColumnsTests {
    @Test("Every column of summary.csv and samples.csv is explained, and nothing else")
    func complete() {
        func check<Row: DescribedRow>(_: Row.Type) {
            let described = Row.columnMeanings
            #expect(described.map(\.name).starts(with: Row.columns) && described.count == Row.columns.count + 1)
            for column in described { #expect(!column.meaning.isEmpty, "\(column.name)") }
            let others = Set(Row.meanings.map(\.name)).subtracting(Row.columns)
            #expect(others.isEmpty, "\(others)")
        }
        check(SummaryRow.self)
        check(SampleRow.self)
    }

    @Test("A column whose name ends in a unit has that unit")
    func units() {
        for column in SummaryRow.columnMeanings {
            let words = column.name.split(separator: "_").map(String.init)
            if words.contains("ns") { #expect(column.unit == "ns", "\(column.name)") }
            if column.name.contains("per_s") { #expect(column.unit == "1/s", "\(column.name)") }
            if column.name.contains("bytes") { #expect(column.unit == "B", "\(column.name)") }
        }
        let low = SummaryRow.columnMeanings.first { $0.name == "time_ratio_ci_low" }
        #expect(low?.unit == "1")
    }

    @Test("Everything is printed, within the width; names select; `serial` explains why it can be slower")
    func text() throws {
        for width in [80, 100, 200] {
            let text = ColumnTopic.text(of: ColumnTopic.all, width: width)
            for line in text.split(separator: "\n") { #expect(TextWidth.of(line) <= width, "\(line)") }
            for name in SummaryRow.columns + SampleRow.columns + Metric.catalogue.map(\.name) + [
                "time/op", "held/pending",
            ] {
                #expect(text.contains("  \(name)"), "\(name)")
            }
        }
        func text(_ names: String...) throws -> String {
            ColumnTopic.text(of: try ColumnTopic.named(names), width: nil)
        }
        Golden("column-topics").expect(try text("serial", "TIME/OP", "n", "vs"), "some topics")
        Golden("column-topics").expect(try text("mix"), "a parameter that differs between shapes")
        let start = try text("start")
        #expect(start.contains("start p50") && start.contains("start p99") && !start.contains("time/op"))
        #expect(try text("TIME/OP") == text("time/op") && text("n") != text("N"))
        let error = #expect(throws: InputError.self) { try text("time/po") }
        #expect(error?.remedy.contains("\"time/op\"") == true)
    }
}
