import Foundation
import FoundationXML
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchModel

/// `opbench gate` and `opbench compare` on runs written by hand: output and exit codes.
@Suite("Gates")
struct GateTests {
    private let folder: ScratchFolder
    private let golden = Golden("gates")

    init() throws {
        folder = try ScratchFolder()
        try writeRun("base", engineSeconds: 0.5)
        try writeRun("same", engineSeconds: 0.5)
        try writeRun("slow", engineSeconds: 0.6)
        try writeRun("short", engineSeconds: 0.5, blocks: 4)
        try writeRun("crashed", engineSeconds: 0.5, status: .crashed)
        try writeRun("other", engineSeconds: 0.5, cell: "w items=3")
    }

    /// A run of the engine and Dispatch in blocks, whose machine drifts from block to block.
    private func writeRun(
        _ name: String, engineSeconds: Double, blocks: Int = 20, cell: String = "w", status: SampleStatus = .ok
    ) throws {
        var rows: [SampleRow] = []
        for block in 0..<blocks {
            let drift = 1 + Double(block * 7 % 10) / 20
            for (position, backend) in [BackendID.engine, .dispatch].enumerated() {
                let noise = 1 + Double(block * 13 % 7) / 1000
                rows.append(
                    SampleRow(
                        runID: name, sampleID: "\(rows.count)-throughput", timestampUTC: "", workload: "w",
                        cellID: cell, backend: backend, block: block, position: position, phase: "total",
                        status: block == 0 ? status : .ok, metric: "time", stat: "total",
                        value: (1e9 * drift * (backend == .engine ? engineSeconds * noise : 1)).rounded(),
                        operations: 1000,
                        parameters: ["items": cell]))
            }
        }
        try folder.write(CSVFile.text(of: rows), to: "results/\(name)/samples.csv")
    }

    private func run(_ line: String) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.runHere(line.split(separator: " ").map(String.init), in: folder)
    }

    /// Compares both output streams with the golden file.
    private func keep(_ result: OpBenchProcess.Finished, _ section: String) {
        golden.expect(result.output + result.errors, section, replacing: [ShellWords.ofThisProgram([]): "OPBENCH"])
    }

    @Test(
        "Exit codes",
        arguments: [
            ("same", 0), ("slow", 2), ("slow --inconclusive pass", 2), ("short", 7), ("short --inconclusive pass", 0),
            ("short --inconclusive fail", 2), ("crashed", 3), ("other", 5), ("other --lenient", 5),
            ("other --ignore-parameters items", 0),
        ] as [(String, Int32)])
    func exitCodes(candidate: String, status: Int32) async throws {
        let result = try await run("gate --baseline base --candidate \(candidate)")
        #expect(result.status == status, "\(result.errors)")
        if !candidate.contains(" ") { keep(result, "gate of base and \(candidate)") }
    }

    @Test("The files of a gate: readable CSV, Markdown, JUnit, annotations")
    func files() async throws {
        let result = try await run(
            "gate --baseline base --candidate slow --csv compare.csv --markdown summary.md --junit junit.xml "
                + "--github-annotations")
        #expect(result.status == 2 && result.output.contains("::error title="))
        keep(result, "annotations")
        let rows = try CSVFile.read(CompareRow.self, file: folder.root + "/compare.csv")
        let ratio = try #require(rows.first { $0.metric == "time_ratio" })
        #expect(ratio.verdict == .regression)
        #expect(abs(try #require(ratio.ratio) - 1.2) < 0.02)
        #expect(rows.contains { $0.metric == "time" && $0.verdict == .unjudged })
        golden.expect(try folder.read("summary.md"), "annotations: Markdown")
        let junit = try folder.read("junit.xml")
        #expect(XMLParser(data: Data(junit.utf8)).parse() && junit.contains("<failure type=\"regression\""))
    }

    @Test("A custom policy judges only what it names, and rules that match nothing are pointed out")
    func policy() async throws {
        try folder.write(
            """
            {"version": 1, "rules": [{"metric": "time_ratio", "max_regression": 0.5},
              {"workload": "nowhere", "metric": "time", "max_regression": 0}]}
            """, to: "gate.json")
        let result = try await run("gate --baseline base --candidate slow --policy gate.json")
        #expect(result.status == 0 && !result.errors.isEmpty)
        keep(result, "a rule that matches nothing")
    }

    @Test("compare exits 0 whatever it finds")
    func compare() async throws {
        let result = try await run("compare base slow --all --format csv")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix(CompareRow.columns.joined(separator: ",") + "\n"))
        #expect(result.output.contains("regression"))
    }

    @Test(
        "Bad input is rejected with the place, and nothing is written",
        arguments: [
            ("gate --baseline base --candidate nowhere", "nowhere:"), ("gate --ab base", "base:"),
            ("compare base results/mixed/samples.csv", "results/mixed/samples.csv"),
            ("gate --baseline base", "results:"), ("gate --ab base --baseline same", "--ab"),
            ("compare base results/cut/samples.csv", "results/cut/samples.csv"),
            ("compare base foreign.csv", "foreign.csv"), ("compare base same --policy bad.json", "$.rules[0].metric"),
            ("compare base same --policy absent.json", "absent.json:"),
            ("compare base same --ignore-parameters itms", "--ignore-parameters itms items"),
            ("compare base twins --ignore-parameters items", #"--ignore-parameters "w" items=3"#),
        ])
    func refusals(line: String, names: String) async throws {
        let whole = try folder.read("results/base/samples.csv")
        try folder.write(String(whole.dropLast(20)), to: "results/cut/samples.csv")
        let other = try folder.read("results/same/samples.csv").split(separator: "\n").dropFirst()
        try folder.write(whole + other.joined(separator: "\n") + "\n", to: "results/mixed/samples.csv")
        let second = try folder.read("results/other/samples.csv").split(separator: "\n").dropFirst()
            .map { $0.replacing(",other,", with: ",base,", maxReplacements: 1) }
        try folder.write(whole + second.joined(separator: "\n") + "\n", to: "results/twins/samples.csv")
        try folder.write("time,what\n1,2\n", to: "foreign.csv")
        try folder.write(#"{"version": 1, "rules": [{"metric": "tme", "max_regression": 1}]}"#, to: "bad.json")
        try await expectRefusal(of: line, naming: names)
    }

    /// Although a file was requested.
    private func expectRefusal(of line: String, naming names: String) async throws {
        try await OpBenchProcess.expectRefusal(
            of: "\(line) --csv out.csv".split(separator: " ").map(String.init), naming: names, in: folder, golden,
            "opbench \(line)")
    }

    @Test("By default the latest run is judged: a finished one, and not the baseline itself")
    func latest() throws {
        let place = try ScratchFolder()
        func write(_ name: String, day: Int, state: String = "finished") throws {
            var run = WrittenRun(name: name, started: "2026-11-\(day)T10:00:00Z", state: state)
            for block in 0..<15 {
                for backend in [BackendID.engine, .dispatch] { run.add(backend, block: block, .time, 1) }
            }
            try run.write(to: place.root)
        }
        func named() throws -> [String] { try MeasuredRun.named([], in: place.root).map(\.folder) }
        #expect(throws: InputError.self) { try named() }
        try write("old", day: 20)
        try write("new", day: 21)
        #expect(try named() == ["\(place.root)/new"])
        #expect(throws: InputError.self) {
            try GateCommand.parse(["--baseline", "new", "--results", place.root]).run()
        }
        try write("part", day: 22, state: "running")
        #expect(throws: InputError.self) { try named() }
        #expect(try MeasuredRun.named([], in: place.root, isTornAllowed: true).map(\.folder) == ["\(place.root)/part"])
    }

    @Test("A run of another version is rejected by its version")
    func otherVersion() async throws {
        let text = try folder.read("results/base/samples.csv")
        try folder.write(text.replacing("\n1,", with: "\n2,"), to: "results/same/samples.csv")
        try await expectRefusal(of: "compare base same", naming: "results/same/samples.csv \"2\"")
    }

    // MARK: Goals

    private func writeGoals(_ atMost: Double, minBlocks: Int = 15, more: String = "") throws {
        try folder.write(
            """
            {"version": 1, "min_blocks": \(minBlocks), "rules": [
              {"cell": "w", "backend": "engine", "metric": "time", "phase": "total", "against": "dispatch",
               "at_most": \(atMost)}\(more)]}
            """, to: "goals.json")
    }

    @Test(
        "Goals of one run: exit codes",
        arguments: [
            ("same", 0.6, 0), ("same", 0.4, 2), ("short", 0.6, 7), ("short --inconclusive pass", 0.4, 0),
            ("short --inconclusive fail", 0.4, 2), ("crashed", 0.6, 3), ("other", 0.6, 5), ("other --lenient", 0.6, 5),
        ] as [(String, Double, Int32)])
    func goals(candidate: String, atMost: Double, status: Int32) async throws {
        try writeGoals(atMost)
        let result = try await run("gate --policy goals.json --candidate \(candidate)")
        #expect(result.status == status, "\(result.errors)")
        if !candidate.contains(" ") { keep(result, "goal of at most \(atMost) for \(candidate)") }
    }

    @Test("The files of goals: a table with both medians, CSV, JSON, Markdown, JUnit, annotations")
    func goalFiles() async throws {
        try writeGoals(0.4, more: #", {"cell": "v", "metric": "time", "at_most": 1}"#)
        let result = try await run(
            "gate --candidate same --policy goals.json --csv goals.csv --markdown summary.md --junit junit.xml "
                + "--github-annotations")
        #expect(result.status == 2 && ["::error title=", "::warning title="].allSatisfy(result.output.contains))
        #expect(result.output.split(separator: "\n").allSatisfy { $0.hasPrefix("::") || $0.count <= 80 })
        keep(result, "goals, with annotations")
        let rows = try CSVFile.read(CompareRow.self, file: folder.root + "/goals.csv")
        #expect(rows.map(\.verdict) == [.missed, .missing])
        #expect(rows[0].runID == "same" && rows[0].against == "dispatch" && rows[0].blocks == 20)
        #expect(abs(try #require(rows[0].ratio) - 0.5) < 0.01)
        golden.expect(try folder.read("summary.md"), "goals, with annotations: Markdown")
        let junit = try folder.read("junit.xml")
        #expect(XMLParser(data: Data(junit.utf8)).parse() && junit.contains("failures=\"2\""))
    }

    @Test("Runs of different cells are judged together; undecided ones have a remedy")
    func goalsOfSeveralRuns() async throws {
        try writeGoals(
            0.6,
            more: """
                , {"cell": "w items=3", "backend": "engine", "metric": "time", "against": "dispatch", "at_most": 0.6}
                """)
        let result = try await run("gate --candidate short --candidate other --policy goals.json")
        #expect(result.status == 7, "\(result.errors)")
        keep(result, "goals of several runs")
    }

    @Test(
        "Goals for two sides, rules for two sides in one run, and incompatible runs are rejected",
        arguments: [
            ("gate --candidate base", "--policy"),
            ("gate --candidate base --policy rules.json", "rules.json: $.rules: --baseline"),
            ("gate --baseline base --candidate same --policy goals.json", "$.rules[0].at_most: --candidate RUN"),
            ("compare base same --policy goals.json", "$.rules[0].at_most:"),
            ("gate --candidate base --candidate same --policy goals.json", "same: base"),
            ("gate --baseline base --candidate same --candidate slow", "--candidate"),
            ("gate --ab base --candidate same", "--ab"), ("gate", "results:"),
            ("gate --candidate base --policy goals.json --ignore-parameters items", "--ignore-parameters"),
        ])
    func goalRefusals(line: String, names: String) async throws {
        try writeGoals(0.6)
        try folder.write(#"{"version": 1, "rules": [{"metric": "time", "max_regression": 1}]}"#, to: "rules.json")
        try await expectRefusal(of: line, naming: names)
    }
}
