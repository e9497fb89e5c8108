import Foundation
import FoundationXML
import OpBenchModel
import Testing

/// `opbench gate` and `opbench compare` on runs written by hand: what they print, and the exit code.
@Suite("Gates")
struct GateTests {
    private let folder: ScratchFolder

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
                        value: drift * (backend == .engine ? engineSeconds * noise : 1), operations: 1000,
                        parameters: ["items": cell]))
            }
        }
        try FileManager.default.createDirectory(
            atPath: "\(folder.root)/results/\(name)", withIntermediateDirectories: true)
        try folder.write(CSVFile.text(of: rows), to: "results/\(name)/samples.csv")
    }

    private func run(_ words: String...) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(words, in: folder)
    }

    @Test(
        "Exit codes",
        arguments: [
            ("same", [], 0, "gate: pass"), ("slow", [], 2, "gate: regression"),
            ("slow", ["--inconclusive", "pass"], 2, "gate: regression"),
            ("short", [], 7, "gate: inconclusive"), ("short", ["--inconclusive", "pass"], 0, "gate: inconclusive"),
            ("short", ["--inconclusive", "fail"], 2, "gate: inconclusive"),
            ("crashed", [], 3, "gate: bad sample"), ("other", [], 5, "gate: missing"),
            ("other", ["--lenient"], 5, "gate: missing"), ("other", ["--ignore-parameters", "items"], 0, "gate: pass"),
        ] as [(String, [String], Int32, String)])
    func exitCodes(candidate: String, options: [String], status: Int32, verdict: String) async throws {
        let result = try await OpBenchProcess.run(
            ["gate", "--baseline", "base", "--candidate", candidate] + options, in: folder)
        #expect(result.status == status, "\(result.errors)")
        #expect(result.output.contains(verdict))
    }

    @Test("The files of a gate: CSV as it can be read back, Markdown, JUnit, annotations")
    func files() async throws {
        let result = try await run(
            "gate", "--baseline", "base", "--candidate", "slow", "--csv", "compare.csv", "--markdown", "summary.md",
            "--junit", "junit.xml", "--github-annotations")
        #expect(result.status == 2)
        #expect(result.output.contains("::error title=regression of time_ratio total::w, engine"))
        let rows = try CSVFile.read(CompareRow.self, file: folder.root + "/compare.csv")
        let ratio = try #require(rows.first { $0.metric == "time_ratio" })
        #expect(ratio.verdict == .regression)
        #expect(abs(try #require(ratio.ratio) - 1.2) < 0.02)
        #expect(rows.contains { $0.metric == "time" && $0.verdict == .unjudged })
        #expect(try folder.read("summary.md").hasPrefix("**gate: regression** (1 regression)"))
        let parser = XMLParser(data: Data(try folder.read("junit.xml").utf8))
        #expect(parser.parse())
        #expect(try folder.read("junit.xml").contains("<failure type=\"regression\""))
    }

    @Test("A policy of one's own judges what it names, and a rule that matches nothing is pointed out")
    func policy() async throws {
        try folder.write(
            """
            {"version": 1, "rules": [{"metric": "time_ratio", "max_regression": 0.5},
              {"workload": "nowhere", "metric": "time", "max_regression": 0}]}
            """, to: "gate.json")
        let result = try await run(
            "gate", "--baseline", "base", "--candidate", "slow", "--policy", "gate.json")
        #expect(result.status == 0)
        #expect(result.errors.contains("rule 2 of the policy matches no figure"))
    }

    @Test("compare reports and exits 0 whatever it finds")
    func compare() async throws {
        let result = try await run("compare", "base", "slow", "--all", "--format", "csv")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix(CompareRow.columns.joined(separator: ",") + "\n"))
        #expect(result.output.contains("regression"))
    }

    @Test(
        "Bad input: refused with the place, and nothing written",
        arguments: [
            (["gate", "--baseline", "base", "--candidate", "nowhere"], "nowhere: there is no such run"),
            (["gate", "--ab", "base"], "no sides"),
            (["compare", "base", "results/mixed/samples.csv"], "of several runs"),
            (["gate", "--baseline", "base"], "--candidate"),
            (["gate", "--ab", "base", "--baseline", "same"], "--ab"),
            (["compare", "base", "results/cut/samples.csv"], "results/cut/samples.csv"),
            (["compare", "base", "foreign.csv"], "foreign.csv"),
            (["compare", "base", "same", "--policy", "bad.json"], "$.rules[0].metric"),
            (["compare", "base", "same", "--policy", "absent.json"], "no such file"),
            (["compare", "base", "same", "--ignore-parameters", "itms"], "items"),
            (
                ["compare", "base", "twins", "--ignore-parameters", "items"],
                #"without items the cells "w" and "w items=3" of one run are the same"#
            ),
        ] as [([String], String)])
    func refusals(words: [String], message: String) async throws {
        let whole = try folder.read("results/base/samples.csv")
        try FileManager.default.createDirectory(atPath: "\(folder.root)/results/cut", withIntermediateDirectories: true)
        try folder.write(String(whole.dropLast(20)), to: "results/cut/samples.csv")
        try FileManager.default.createDirectory(
            atPath: "\(folder.root)/results/mixed", withIntermediateDirectories: true)
        let other = try folder.read("results/same/samples.csv").split(separator: "\n").dropFirst()
        try folder.write(whole + other.joined(separator: "\n") + "\n", to: "results/mixed/samples.csv")
        let second = try folder.read("results/other/samples.csv").split(separator: "\n").dropFirst()
            .map { $0.replacing(",other,", with: ",base,", maxReplacements: 1) }
        try FileManager.default.createDirectory(
            atPath: "\(folder.root)/results/twins", withIntermediateDirectories: true)
        try folder.write(whole + second.joined(separator: "\n") + "\n", to: "results/twins/samples.csv")
        try folder.write("time,what\n1,2\n", to: "foreign.csv")
        try folder.write(#"{"version": 1, "rules": [{"metric": "tme", "max_regression": 1}]}"#, to: "bad.json")
        let before = folder.contents()
        let result = try await OpBenchProcess.run(words + ["--csv", "out.csv"], in: folder)
        #expect(result.status == 64)
        #expect(result.output == "")
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(folder.contents() == before)
    }
}
