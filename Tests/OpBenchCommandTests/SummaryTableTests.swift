import Foundation
import OpBenchAnalysis
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

/// The summary's tables, their marks and their notes.
@Suite("Summary tables")
struct SummaryTableTests {
    private let golden = Golden("summary-table")

    private func row(_ backend: BackendID, ratio: Double? = nil, samples: Int = 15) -> SummaryRow {
        var row = SummaryRow(
            runID: "r", workload: "w", cellID: "w", backend: backend, status: .ok, samples: samples, parameters: [:])
        row[.timeRatio].value = ratio
        row.ratioTo = ratio.map { _ in .dispatch }
        return row
    }

    @Test("The groups of a replay: recorded, and on each backend with the difference")
    func groups() {
        var rows: [SummaryRow] = []
        for (cell, factor) in [("w", 1.5), ("w limit=8", 1.0)] {
            for backend in [BackendID.engine, .dispatch] {
                for (group, p99) in [("", 60e6), ("group=A", 50e6), ("group=B b", 2e6)]
                where backend != .dispatch || group != "group=B b" {
                    var row = row(backend)
                    (row.cellID, row.operationClass) = (cell, group)
                    (row[.recordedLatencyP50].value, row[.recordedLatencyP99].value) = (1e6, p99)
                    (row[.recordedRate].value, row[.completionRate].value) = (500, 400)
                    (row[.intendedLatencyP50].value, row[.intendedLatencyP99].value) = (1e6, p99 * factor)
                    rows.append(row)
                }
            }
        }
        golden.expect(ReplayedGroups.text(of: rows, width: nil), "the groups of a replay")
        let asRecorded = rows.filter { $0.cellID == "w" }
        golden.expect(ReplayedGroups.text(of: asRecorded, width: nil), "a replay at the recorded settings alone")
        let alike = rows.map { row in
            var row = row
            row[.intendedLatencyP99].value = row[.recordedLatencyP99].value.map { 1.2 * $0 }
            return row
        }
        golden.expect(ReplayedGroups.text(of: alike, width: nil), "a replay like its recording")
        // A part of the recording has figures of its own; at another speed, the setting makes the rate.
        let ofQueue = rows.filter { $0.cellID == "w" && $0.operationClass == "group=A" }.map { row in
            var row = row
            (row.cellID, row.parameters["queue"], row[.recordedRate].value) = ("w queue=0", "0", 200)
            return row
        }
        let faster = rows.filter { $0.cellID == "w" && $0.operationClass == "group=A" }.map { row in
            var row = row
            (row.cellID, row.parameters["speed"], row[.completionRate].value) = ("w speed=2", "2", 1000)
            return row
        }
        golden.expect(ReplayedGroups.text(of: rows + ofQueue + faster, width: nil), "other loads and speeds")
        #expect(ReplayedGroups.text(of: [row(.engine)], width: nil) == "")
    }

    // MARK: Marks

    private func marks(
        _ quality: SampleQuality? = nil, samples: Int = 15, isQuick: Bool = false, operationClass: String = "",
        isUnsteady: Bool = false, _ modes: Modes = Modes()
    ) -> String {
        var row = row(.engine, samples: samples)
        row.quality = quality
        (row.isUnsteady, row.modes) = (isUnsteady, modes)
        row.operationClass = operationClass
        return String(RowMark.marks(of: row, isQuick: isQuick).map(\.rawValue))
    }

    @Test("A row's letters: noisy, short, unsteady, bimodal, quick, too few blocks; capitals if most samples are")
    func marks() {
        #expect(marks() == "" && marks(SampleQuality(samples: 9)) == "")
        #expect(marks(SampleQuality(samples: 9, noisy: 1)) == "n")
        #expect(marks(SampleQuality(samples: 9, noisy: 5)) == "N")
        #expect(marks(SampleQuality(samples: 8, noisy: 4)) == "n")
        #expect(marks(SampleQuality(samples: 20, throughputSamples: 9, short: 9), isUnsteady: true) == "Su")
        #expect(marks(SampleQuality(samples: 9, throughputSamples: 9, short: 1), Modes(low: 1, high: 2)) == "sm")
        #expect(marks(SampleQuality(samples: 8, latencySamples: 7, overloaded: 3)) == "o")
        #expect(marks(SampleQuality(samples: 8, latencySamples: 7, overloaded: 4)) == "O")
        #expect(marks(isQuick: true) == "q")
        #expect([7, 6, 1].map { marks(samples: $0) } == ["", "b", "b"])
        #expect(marks(SampleQuality(samples: 2), samples: 2) == "", "counts alone")
        #expect(
            marks(
                SampleQuality(samples: 5, noisy: 3, throughputSamples: 3, short: 1), samples: 2, isQuick: true,
                isUnsteady: true) == "Nsuqb")
        // Rows without measurements have none; classes have those of their backend.
        #expect(marks(SampleQuality(), samples: 0, isQuick: true) == "")
        #expect(marks(SampleQuality(samples: 1, noisy: 1), operationClass: "priority=high") == "")
    }

    @Test("The samples' flags appear in the row; a repeated sample counts by its repetition")
    func quality() {
        func sample(_ id: String, _ flags: [SampleFlag], block: Int = 0, phase: String = "total") -> SampleRow {
            SampleRow(
                runID: "r", sampleID: id, timestampUTC: "", workload: "w", cellID: "w", backend: .engine, block: block,
                position: 0, phase: phase, status: .ok, flags: flags, metric: "time", stat: "total", value: 1,
                operations: 1, parameters: [:])
        }
        let rows = [
            sample("0-throughput", [.noisy]), sample("0r-throughput", [.rerun]),
            sample("1-throughput", [.short, .noisy], block: 1), sample("1-throughput", [.short, .noisy], block: 1),
            sample("2-throughput", [.unsteady], block: 2), sample("3-latency", [.short]),
            sample("4-latency", [.noisy], block: 1, phase: "warmup"),
        ]
        #expect(
            summarize(rows)[0].quality
                == SampleQuality(
                    samples: 4, noisy: 1, throughputSamples: 3, short: 1, latencySamples: 1, noisyThroughput: 1))
    }

    @Test(
        "a heading names the time of the bodies that ids leave out",
        arguments: [
            (["work_ns": "100", "body": "cpu"], "w work_ns=100"), (["work_ns": "0", "body": "cpu"], "w"),
            (["work_ns": "100", "body": "sleep"], "w"), ([:], "w"),
        ] as [([String: String], String)])
    func heading(parameters: [String: String], expected: String) {
        func heading(_ cells: (String, [String: String])...) -> String {
            CellNames(cells.map { ($0.0, $0.1) }).heading
        }
        let another = parameters.merging(["producers": "2"]) { $1 }
        #expect(heading(("w", parameters), ("w producers=2", another)) == expected)
        #expect(heading(("w work_ns=100", parameters)) == "w work_ns=100")
        #expect(heading(("w", parameters), ("w work_ns=5", parameters.merging(["work_ns": "5"]) { $1 })) == "w")
    }

    // MARK: Notes

    private func notes(_ rows: SummaryRow...) -> [String] {
        SummaryNotes(rows: rows, context: SummaryContext(clockResolution: 23)).entries.map(\.term)
    }

    @Test("a note is below the table only if the rows require it")
    func notes() {
        #expect(notes(row(.dispatch)) == [])
        var (dispatch, engine) = (row(.dispatch, ratio: 1), row(.engine, ratio: 0.5))
        (dispatch[.time].value, engine[.time].value) = (1000, 500)
        #expect(notes(dispatch, engine) == [])
        engine.isRatioUnlike = true
        #expect(notes(dispatch, engine) == ["!"])
        engine.isRatioUnlike = false
        engine[.time].low = 1
        #expect(notes(dispatch, engine) == ["interval"])

        var start = row(.engine)
        start[.startLatencyP50].value = 23
        #expect(notes(start) == ["start"])
        start[.startLatencyP99].value = 0
        #expect(notes(start) == ["start", "< 23 ns"])
        start[.startLatencyP99].value = nil
        start[.startLatencyP50].value = 22
        #expect(notes(start).count == 2)
        var quiesce = row(.engine)
        quiesce[.quiesceP90].value = 0
        #expect(notes(quiesce) == ["< 23 ns"])

        #expect(notes(row(.serial, ratio: 0.9)) == [])
        #expect(notes(row(.serial, ratio: 1.9)) == ["serial"])
        #expect(notes(row(.engine, ratio: 1.9)) == [])
        #expect(notes(row(.engine, samples: 6)) == ["b"])
    }

    @Test("One sentence has the run's rate of unsteady samples, and names the results that stand out")
    func levels() {
        func findings(_ counts: [(unsteady: Int, all: Int)], standingOut: Int = 0) -> String {
            let rows = counts.enumerated().map { index, count in
                var row = SummaryRow(
                    runID: "r", workload: "w", cellID: "w n=\(index)", backend: .engine, status: .ok, samples: 15,
                    parameters: ["n": "\(index)"])
                row.quality = SampleQuality(samples: 15, levelled: count.all, unsteady: count.unsteady)
                row.isUnsteady = index < standingOut
                return row
            }
            return FindingSentences(rows, SummaryContext(), isBelowMarks: true).lines.map { $0 + "\n" }.joined()
        }
        #expect(findings([(0, 7), (0, 7)]) == "" && findings([(0, 0)]) == "")
        let rest = Array(repeating: (unsteady: 1, all: 7), count: 6)
        golden.expect(
            [0, 1, 6].map { findings(Array(repeating: (7, 7), count: $0) + rest, standingOut: $0) }.joined(),
            "unsteady results")
    }

    @Test("A workload's sentence has its ratios, and names cells by what distinguishes them where verdicts differ")
    func answers() {
        func row(
            _ backend: BackendID, _ form: String, _ submission: String, _ ratio: Double, _ half: Double?,
            unlike: Bool = false
        ) -> SummaryRow {
            var row = SummaryRow(
                runID: "r", workload: "tiny", cellID: "tiny form=\(form) submission=\(submission)", backend: backend,
                status: .ok, samples: 15, parameters: ["form": form, "submission": submission])
            row[.timeRatio] = Estimate(value: ratio, low: half.map { ratio - $0 }, high: half.map { ratio + $0 })
            row.ratioTo = .dispatch
            row.isRatioUnlike = unlike
            return row
        }
        func sentences(_ rows: [SummaryRow], _ context: SummaryContext = SummaryContext()) -> String {
            FindingSentences(rows, context).lines.joined(separator: "\n") + "\n"
        }
        let engine = [
            row(.engine, "closure", "each", 0.44, 0.02), row(.engine, "block", "each", 1.02, 0.1),
            row(.engine, "block", "refill", 1.5, 0.2),
        ]
        let foundation = engine.map { row in
            var row = row
            (row.backend, row[.timeRatio]) = (.foundation, Estimate(value: 12, low: 11, high: 14))
            return row
        }
        var mixed = engine
        mixed[2].ratioTo = BackendID(rawValue: "dispatch:notify")
        let across = row(.engine, "closure", "each", 0.9, 0.01, unlike: true)
        var order = row(.engine, "closure", "each", 0.9, 0.01, unlike: true)
        order[.inversions].value = 0
        golden.expect(
            sentences(engine + foundation) + sentences(Array(engine.prefix(1)) + foundation.prefix(2))
                + sentences([row(.engine, "closure", "each", 0.4, nil), row(.engine, "block", "each", 0.9, nil)])
                + sentences([order]) + sentences(mixed) + sentences([across, foundation[0]])
                + sentences(engine, SummaryContext(words: [engine[0].cellID: "closures"]))
                + sentences([row(.engine, "closure", "each", 0.4, nil)], SummaryContext(isQuick: true)), "answers")
    }

    @Test("Shares of CPU have a line for each class, and the granularity a sentence")
    func otherAnswers() {
        func row(_ backend: BackendID, _ name: String, _ value: String, class name2: String = "") -> SummaryRow {
            SummaryRow(
                runID: "r", workload: "w", cellID: "w \(name)=\(value)", backend: backend, operationClass: name2,
                status: .ok, samples: 7, parameters: [name: value])
        }
        let shares = [("0.0", 0.1), ("0.5", 0.62), ("1.0", 0.99)].flatMap { level, share in
            [(BackendID.engine, share), (.dispatch, 0.5)].map { backend, share in
                var row = row(backend, "competitors", "2", class: "thread_priority=\(level)")
                row[.cpuShare].value = share
                return row
            }
        }
        let whole = [BackendID.engine, .dispatch].map { row($0, "competitors", "2") }
        let grain = [100, 400, 1600].map { work in
            var row = row(.engine, "work_ns", "\(work)")
            row[.schedulingEfficiency].value = Double(work) / Double(work + 300)
            return row
        }
        golden.expect(
            CellTable.text(of: whole + shares, SummaryContext(), width: 80)
                + CellTable.text(of: grain, SummaryContext(), width: 80), "other answers")
    }

    // MARK: Tables

    private var rows: [SummaryRow] {
        func row(_ backend: BackendID, depth: String, _ status: SampleStatus = .ok) -> SummaryRow {
            SummaryRow(
                runID: "r", workload: "w", cellID: depth == "2" ? "w chains=3 depth=2" : "w chains=3", backend: backend,
                status: status, samples: status == .ok ? 7 : 0, parameters: ["depth": depth, "chains": "3"])
        }
        var engine = row(.engine, depth: "2")
        engine.quality = SampleQuality(samples: 10, noisy: 2, throughputSamples: 9)
        engine[.time].value = 200
        engine[.time].low = 189
        engine[.time].high = 357
        engine[.timeRatio].value = 0.52
        engine[.timeRatio].low = 0.48
        engine[.timeRatio].high = 1.09
        engine.ratioTo = .dispatch
        engine[.startLatencyP50].value = 0
        engine[.startLatencyP99].value = 40_000
        engine[.cpuTime].value = 215
        engine[.allocations].value = 2
        engine[.retainedBytes].value = 176
        var high = row(.engine, depth: "2")
        high.operationClass = "priority=high"
        high[.startLatencyP99].value = 9000
        var dispatch = row(.dispatch, depth: "2")
        dispatch[.time].value = 400
        dispatch.ratioTo = .dispatch
        (dispatch[.timeRatio].value, dispatch[.timeRatio].low, dispatch[.timeRatio].high) = (1, 1, 1)
        return [engine, high, dispatch, row(.foundation, depth: "10", .timeout)]
    }

    @Test("The short table has a column per backend, the whole one a line for each and all columns")
    func forms() {
        golden.expect(SummaryTable(rows, SummaryContext(clockResolution: 23, isQuick: true)).text, "all columns")
        for width in [60, 30] {
            let text = CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: width)
            golden.expect(text, "\(width) columns")
            #expect(text.split(separator: "\n").allSatisfy { TextWidth.of($0) <= width }, "\(text)")
        }
    }

    @Test("Columns keep the order of the workload's backends, also of one that the first cell skips")
    func order() {
        func row(_ backend: BackendID, _ cell: String, _ status: SampleStatus = .ok) -> SummaryRow {
            var row = SummaryRow(
                runID: "r", workload: "w", cellID: "w n=\(cell)", backend: backend, status: status, samples: 7,
                parameters: ["n": cell])
            row[.time].value = status == .ok ? 100 : nil
            return row
        }
        let rows = [
            row(.engine, "1"), row(.dispatch, "1", .skipped), row(.foundation, "1"), row(.serial, "1", .unsupported),
            row(.engine, "2"), row(.dispatch, "2"), row(.foundation, "2"), row(.serial, "2", .skipped),
        ]
        let header = CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: 80).split(separator: "\n")[1]
        #expect(header.split(separator: " ") == ["n", "engine", "dispatch", "foundation"])
    }

    @Test("Only ratios with a verdict are coloured, and colours do not shift columns")
    func colours() {
        var rows = rows
        let plain = CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: 80)
        func coloured() -> String {
            CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: 80, isColored: true)
        }
        #expect(coloured() == plain)
        rows[0][.timeRatio].high = 0.6
        #expect(coloured().contains("\u{1B}[32m") && !coloured().contains("\u{1B}[31m"))
        rows[0][.timeRatio] = Estimate(value: 1.5, low: 1.2, high: 1.9)
        #expect(coloured().contains("\u{1B}[31m"))
        let withoutCodes = ["[31m", "[0m"].reduce(coloured()) { $0.replacingOccurrences(of: "\u{1B}" + $1, with: "") }
        #expect(withoutCodes == CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: 80))
    }

    @Test("On a busy machine, a ratio that CPU time does not show has the sign of no difference, and no colour")
    func busyMachine() {
        var rows = rows
        rows[0][.timeRatio] = Estimate(value: 0.84, low: 0.76, high: 0.93)
        rows[0].isRatioOfBusyMachine = true
        let text = CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: 80, isColored: true)
        golden.expect(text, "a busy machine")
    }

    @Test("If nearly all samples are noisy, one sentence above the tables says so; otherwise the rows' letters do")
    func noisy() {
        func text(noisy: Int) -> String {
            var rows = self.rows
            rows[0].quality = SampleQuality(samples: 8, noisy: noisy, throughputSamples: 7)
            rows[2].quality = SampleQuality(samples: 8, noisy: 8, throughputSamples: 7)
            return SummaryTable(rows, SummaryContext(clockResolution: 23)).text
        }
        let sentences = [4, 8].map { text(noisy: $0).components(separatedBy: "w chains=3\n")[0] }
        golden.expect(sentences.joined(), "nearly all noisy, all noisy")
        #expect(text(noisy: 3).hasPrefix("w chains=3\n"))
        var rows = self.rows
        rows[0].quality = SampleQuality(samples: 8, noisy: 7, throughputSamples: 7)
        let markdown = SummaryTable(rows, SummaryContext(clockResolution: 23)).markdown
        #expect(markdown.contains("\n\n**w chains=3**"))
        // Below the shorter table if that is so of most results.
        let measured = self.rows.indices.filter { self.rows[$0].samples > 0 && self.rows[$0].operationClass.isEmpty }
        for count in measured.indices {
            rows = self.rows
            for index in measured.prefix(count) { rows[index].quality = SampleQuality(samples: 8, noisy: 8) }
            let text = CellTable.text(of: rows, SummaryContext(clockResolution: 23), width: nil)
            #expect(text.contains(RowMark.mostlyNoisy.meaning) == (2 * count > measured.count), "\(count)")
        }
    }

    @Test("Markdown has every column and every row, and hostile fields are plain text")
    func markdown() {
        var rows = rows
        rows[0].operationClass = "a|b<c>"
        let text = SummaryTable(rows, SummaryContext(clockResolution: 23)).markdown
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(lines.count == 2 + rows.count)
        #expect(Set(lines.map { $0.count { $0 == "|" } }).count == 1)
        #expect(text.contains("**w chains=3**\n\n| cell | backend | class | time/op | 95 % interval | vs dispatch |"))
        #expect(lines[2].contains("a&#124;b&#60;c&#62;") && lines[2].hasSuffix("| ok |"), "\(lines[2])")
        #expect(lines[5].hasPrefix("| depth=10 | foundation |  | - |") && lines[5].hasSuffix("| timeout |"))
    }

    /// Rows for all cells of the shipped workloads, with figures as wide as possible.
    private static func shippedRows() throws -> [SummaryRow] {
        let folder = OpBenchProcess.root.appendingPathComponent("workloads").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
            .sorted()
        #expect(files.count == 6)
        let specs = try WorkloadSpec.load(files: files.map { "\(folder)/\($0)" })
        return specs.flatMap { spec in
            spec.cells.flatMap { cell in
                spec.backends.flatMap { backend -> [SummaryRow] in
                    classes(of: spec.name).map { operationClass in
                        var row = SummaryRow(
                            runID: "r", workload: spec.name, cellID: cell.id, backend: backend,
                            operationClass: operationClass, status: backend == .foundation ? .unsupported : .ok,
                            samples: 3, parameters: cell.parameters.mapValues { "\($0)" })
                        row.quality = SampleQuality(samples: 10, noisy: 9, throughputSamples: 9, short: 9)
                        row.isUnsteady = true
                        row[.time].value = 77_777
                        row[.cpuTime].value = 77_777
                        row[.time].low = 7_777
                        row[.time].high = 777_777
                        (row[.timeRatio].value, row[.timeRatio].low, row[.timeRatio].high) = (10.5, 0.42, 10.9)
                        row.ratioTo = .dispatch
                        (row[.startLatencyP50].value, row[.startLatencyP99].value) = (11_400, 130_000_000)
                        (row[.inversions].value, row[.startsAfterSuspend].value) = (2420, 5810)
                        (row[.allocations].value, row[.retainedBytes].value) = (16.2, 1166)
                        return row
                    }
                }
            }
        }
    }

    private static func classes(of workload: String) -> [String] {
        switch workload {
        case "priority-mix": ["", "priority=very_high"]
        case "thread-priority": ["", "thread_priority=0.25"]
        default: [""]
        }
    }

    @Test("The shipped workloads' tables fit every terminal from 80 columns on", arguments: [80, 100, 132, 200])
    func fits(width: Int) throws {
        let rows = try Self.shippedRows()
        let text = CellTable.text(of: rows, SummaryContext(clockResolution: 20, isQuick: true), width: width)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines { #expect(TextWidth.of(line) <= width, "\(line)") }
        // A line per cell and figure, and the ratio or the time of the engine and of Dispatch at every width.
        #expect(lines.count <= 120, "\(text)")
        let rules = lines.indices.filter { lines[$0].hasPrefix("--") }
        let headers = rules.filter { rule in
            let titles = Set(lines[rule - 1].split(separator: " "))
            return titles.contains("engine") && (titles.contains("dispatch") || titles.contains(":notify"))
        }
        #expect(headers.count == 6, "\(text)")
    }

    @Test("Names from other programs and hostile files fit as well", arguments: [80, 100, 200])
    func hostileNames(width: Int) {
        let names = [
            String(repeating: "long-", count: 60), "深さ=千 " + String(repeating: "級", count: 50), "a\u{1B}[2J\nb",
            String(repeating: "x y ", count: 100), "🚀🚀 e\u{301}",
        ]
        let rows = names.flatMap { name in
            [BackendID.engine, BackendID(rawValue: name)].map { backend in
                var row = SummaryRow(
                    runID: "r", workload: name, cellID: name + " " + backend.rawValue, backend: backend,
                    operationClass: backend == .engine ? "" : name, status: .ok, samples: 7,
                    parameters: ["mix": name, "depth": backend.rawValue])
                row[.time].value = 1000
                row[.timeRatio].value = 3
                row.ratioTo = backend
                return row
            }
        }
        let text = CellTable.text(of: rows, SummaryContext(clockResolution: 20), width: width)
        for line in text.split(separator: "\n") { #expect(TextWidth.of(line) <= width, "\(line)") }
        #expect(!text.contains("\u{1B}"))
    }
}

/// Judged figures' tables.
@Suite("Judged tables")
struct JudgedTableTests {
    private func comparison() throws -> ComparisonReport {
        let cells = [
            "tiny form=block producers=2", "tiny form=block",
            "chains chains=8 depth=2000 order=reverse queues=2 work_ns=0",
        ]
        let figures = [
            ("time_ratio", "total", ""), ("start_latency", "p99", "thread_priority=0.25"), ("allocations", "total", ""),
        ]
        let rows = cells.flatMap { cell in
            [BackendID.engine, BackendID(rawValue: "dispatch:notify")].flatMap { backend in
                figures.map { metric, stat, operationClass in
                    var row = CompareRow(
                        FigureName(
                            cellID: cell, backend: backend, metric: metric, phase: stat == "p99" ? "" : "total",
                            operationClass: operationClass, stat: stat), verdict: stat == "p99" ? .inconclusive : .pass)
                    (row.base, row.head) = stat == "p99" ? (0, 12_340_000) : (1, 1.5)
                    (row.ratio, row.ratioLow, row.ratioHigh) = (1.5, 0.98, 12.4)
                    if metric == "time_ratio" { row.ratio = 1.4 }
                    (row.adjustedProbability, row.threshold) = (0.0001, 0.123)
                    if stat == "p99" { row.doubt = .wideInterval(blocks: 7, enough: 15) }
                    return row
                }
            }
        }
        return ComparisonReport(rows: rows, outcome: .inconclusive, compared: .goals([]))
    }

    private func goals() -> ComparisonReport {
        let rows = ["tiny form=block", "tiny form=block producers=2"].map { cell in
            var row = CompareRow(
                FigureName(cellID: cell, backend: .engine, metric: "time", phase: "total", stat: "total"),
                verdict: .missed)
            (row.against, row.atMost) = ("dispatch:notify", 0.00253)
            (row.head, row.base, row.ratio) = (77_700, 1.23e8, 0.00263)
            (row.ratioLow, row.ratioHigh) = (0.00261, 0.00299)
            return row
        }
        return ComparisonReport(rows: rows, outcome: .missed, compared: .goals([]))
    }

    @Test("Comparisons and goals fit every terminal from 80 columns on", arguments: [80, 100, 200])
    func fits(width: Int) throws {
        for text in [
            ComparisonTable.text(of: try comparison(), width: width), ComparisonTable.text(of: goals(), width: width),
        ] {
            for line in text.split(separator: "\n") {
                #expect(TextWidth.of(line) <= width, "\(line)")
            }
        }
    }

    @Test("Counts that would look equal show the digits in which they differ; varying figures do not")
    func digits() throws {
        func pair(_ metric: String, _ base: Double, _ head: Double) -> String {
            Quantities.figure(base, of: metric, resolution: 1, beside: head) + " "
                + Quantities.figure(head, of: metric, resolution: 1, beside: base)
        }
        #expect(pair("allocations", 2.00145, 2.001825) == "2.0015 2.0018")
        #expect(pair("allocations", 2, 2) == "2 2")
        #expect(pair("allocations", 2, 3) == "2 3")
        #expect(pair("allocations", 2.07, 2.06) == "2.07 2.06")
        #expect(pair("allocated_bytes", 5000, 5001) == "5000.0 B 5001.0 B")
        #expect(pair("time", 2281, 2284) == "2.28 µs 2.28 µs")
        #expect(Quantities.figure(2.00145, of: "allocations", resolution: 1) == "2.00")
    }

    @Test("Cells and backends are named once, above their figures; a reason has a separate line if necessary")
    func layout() throws {
        let text = ComparisonTable.text(of: try comparison(), width: 80)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "tiny form=block")
        #expect(
            lines.count { $0 == "producers=2, engine" } == 1
                || lines.count { $0 == "tiny form=block producers=2, engine" } == 1)
        #expect(lines.contains("chains chains=8 depth=2000 order=reverse queues=2 work_ns=0"))
        #expect(lines.contains("engine") && lines.contains("dispatch:notify"))
        // A value below the clock's resolution is not zero; the resolution is the histogram's if no run gives another.
        let wide = ComparisonTable.text(of: try comparison(), width: nil)
        #expect(wide.contains("< 1 ns") && !wide.contains(" 0 ns"))
        let golden = Golden("judged-table")
        let program = [ShellWords.ofThisProgram([]): "opbench"]
        golden.expect(text, "a comparison, 80 columns", replacing: program)
        golden.expect(wide, "a comparison, any width", replacing: program)
        golden.expect(ComparisonTable.text(of: goals(), width: 80), "goals", replacing: program)
    }
}
