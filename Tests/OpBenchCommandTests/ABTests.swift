import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench ab` with the real program on both sides.
@Suite(.serialized)
struct ABTests {
    /// So little work that doubling it is certainly detected: 100 µs per operation, one at a time.
    private static let busy = """
        {"name": "busy", "summary": "s", "shape": "independent",
         "parameters": {"items": 200, "work_ns": 100000, "max_concurrent": 1}, "backends": ["engine"],
         "sample_kinds": ["throughput", "memory"]}
        """

    private func ab(_ words: [String], in folder: ScratchFolder) async throws -> OpBenchProcess.Finished {
        let binary = OpBenchProcess.binary
        return try await OpBenchProcess.run(["ab", binary, binary, "busy.json", "--no-progress"] + words, in: folder)
    }

    @Test("two interleaved builds: sides in the rows, a comparison, and a gate that detects a slowdown", .slow)
    func endToEnd() async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.busy, to: "busy.json")
        let result = try await ab(["--run-id", "two", "--inject-slowdown", "1", "--all"], in: folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            folder.contents() == [
                "busy.json", "results", "results/two", "results/two/compare.csv", "results/two/histograms.csv",
                "results/two/run.json", "results/two/samples.csv", "results/two/summary.csv",
            ])
        let summary = try CSVFile.read(SummaryRow.self, file: folder.root + "/results/two/summary.csv")
        #expect(summary.map(\.side) == ["base", "head"])
        #expect(summary.allSatisfy { $0[.operationThroughput].value != nil && $0[.allocations].value != nil })
        let rows = try CSVFile.read(SampleRow.self, file: folder.root + "/results/two/samples.csv")
        #expect(Set(rows.map(\.side)) == ["base", "head"])
        // The wall-clock time depends on other work of the machine; the CPU time hardly does.
        let time = try #require(
            try CSVFile.read(CompareRow.self, file: folder.root + "/results/two/compare.csv").first {
                $0.metric == "cpu_time"
            })
        #expect(time.verdict == .regression)
        let ratio = try #require(time.ratio)
        #expect((1.5...2.5).contains(ratio))
        let before = try folder.states("results/two")
        let resumed = try await ab(
            ["--run-id", "two", "--inject-slowdown", "1", "--all", "--resume"], in: folder)
        #expect(resumed.status == 0 && resumed.output == result.output, "\(resumed.errors)")
        #expect(try folder.states("results/two") == before, "a finished run does not change")
        let gate = try await OpBenchProcess.run(["gate", "--ab", "two"], in: folder)
        #expect(gate.status == 2, "\(gate.errors)")
        let compare = try await OpBenchProcess.run(["compare", "two", "two"], in: folder)
        #expect(compare.status == 64)
        #expect(compare.errors.contains("gate --ab"), "\(compare.errors)")
    }

    @Test("backends that no rule judges are left out unless they are named; if none is judged, that is an error")
    func judged() throws {
        let folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
             "backends": ["foundation", "engine", "dispatch"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
        try folder.write(
            #"{"version": 1, "rules": [{"backend": "own", "metric": "time_ratio", "max_regression": 1}]}"#, to: "p.json"
        )
        func backends(_ words: String...) throws -> [BackendID] {
            let command = try ABCommand.parse(["old", "new", folder.root + "/w.json"] + words)
            let (selection, _) = try command.workloads.loadJudged(by: command.report.policy, or: .standardForSides)
            return selection.specs.flatMap(\.backends)
        }
        let policy = folder.root + "/p.json"
        #expect(try backends() == [.engine])
        #expect(try backends("--policy", policy) == [.engine, .dispatch])
        #expect(try backends("--backend", "foundation") == [.foundation])
        try folder.write(
            #"{"version": 1, "rules": [{"workload": "v", "metric": "time", "max_regression": 1}]}"#, to: "p.json")
        #expect(throws: InputErrors.self) { try backends("--policy", policy) }
    }

    @Test("with layouts, the blocks are as many of each layout", arguments: [7, 15, 16, 30])
    func blocksOfLayouts(blocks: Int) {
        let words = ["--base-ref", "main", "--layouts", "15", "--blocks", "\(blocks)", "busy.json"]
        #expect(((try? ABCommand.parse(words)) == nil) == (blocks == 16))
    }

    @Test(
        "bad usage is rejected, and nothing is written",
        arguments: [
            ("/bin/true /bin/true busy.json", "/bin/true: `opbench"),
            ("/nonexistent /bin/true busy.json", "/nonexistent:"), ("/bin/true busy.json", "<file>"),
            ("/bin/true /bin/true none.json", "none.json:"),
            ("--base-ref main --layouts 15 --blocks 16 busy.json", "--layouts"),
        ])
    func refusals(words: String, names: String) async throws {
        let folder = try ScratchFolder()
        try folder.write(Self.busy, to: "busy.json")
        try await OpBenchProcess.expectRefusal(
            of: ["ab"] + words.split(separator: " ").map(String.init), naming: names, in: folder, Golden("ab"),
            isHere: false)
    }
}
