import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner
import TestSupport
import Testing

@testable import OpBenchCommand

/// `opbench run --for-gate`
struct ForGateTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try folder.write(
            """
            {"name": "little", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
             "backends": ["engine", "dispatch"]}
            """, to: "w.json")
    }

    @Test(
        "conflicting options are rejected",
        arguments: [
            ["--for-gate", "--quick"], ["--for-gate", "--metric", "latency"], ["--for-gate", "--time-budget", "1m"],
            ["--policy", "p.json"],
        ])
    func refused(options: [String]) {
        #expect(throws: (any Error).self) { try OpBench.command(of: ["run"] + options + ["w.json"]) }
    }

    @Test("a policy decides kinds and blocks; its mistakes are reported along with the workloads'")
    func policy() throws {
        let file = folder.root + "/w.json"
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "start_latency", "max_regression": 0.1, "min_blocks": 9}]}"#,
            to: "p.json")
        let policy = folder.root + "/p.json"
        let command = try ListCommand.parse(["--for-gate", "--policy", policy, file])
        let (selection, blocks) = try command.gate.load(command.selection, command.plan)
        #expect(selection.specs[0].sampleKinds == [.latency] && blocks == [.latency: 9])
        try command.gate.check(LayoutOptions.parse(["--layouts", "15"]))
        let more = try ListCommand.parse(["--for-gate", "--blocks", "30", "--backend", "engine", file])
        let standard = try more.gate.load(more.selection, more.plan)
        #expect(standard.blocks == [.throughput: 30])
        #expect(standard.selection.warnings.contains { $0.contains("dispatch") })
        try folder.write(
            #"{"version": 1, "rules": [{"metric": "start_latency", "max_regression": 0.1, "min_blocks": 16}]}"#,
            to: "p.json")
        let tooMany = try #require(throws: InputError.self) {
            try command.gate.check(LayoutOptions.parse(["--layouts", "15"]))
        }
        #expect(tooMany.file == policy && tooMany.path == "$.rules[0]")
        try folder.write(#"{"version": 1, "rules": [{"metric": "tim", "max_regression": -1}]}"#, to: "p.json")
        try folder.write(#"{"name": "W"}"#, to: "w.json")
        let errors = try #require(throws: InputErrors.self) { try command.gate.load(command.selection, command.plan) }
        #expect(errors.errors.map(\.path) == ["$", "$.name", "$.rules[0].metric", "$.rules[0].max_regression"])
    }

    @Test("it measures the judged backends and those of their ratios, or the named ones")
    func backends() throws {
        try folder.write(
            """
            {"name": "little", "summary": "s", "shape": "independent", "parameters": {"items": 20, "work_ns": 0},
             "backends": ["serial", "engine", "foundation", "dispatch"]}
            """, to: "w.json")
        let command = try ListCommand.parse(["--for-gate", folder.root + "/w.json"])
        let needed = try command.gate.load(command.selection, command.plan).selection
        #expect(needed.specs.map(\.backends) == [[.engine, .dispatch]])
        let named = try ListCommand.parse(["--for-gate", "--backend", "foundation", folder.root + "/w.json"])
        let selection = try named.gate.load(named.selection, named.plan).selection
        #expect(selection.specs.map(\.backends) == [[.foundation]])
    }

    @Test("its runs have enough blocks for a verdict of the default gate", .slow)
    func gate() async throws {
        for name in ["before", "after"] {
            let result = try await OpBenchProcess.run(
                ["run", "--for-gate", "--run-id", name, "--no-progress", "w.json"], in: folder)
            #expect(result.status == 0, "\(result.errors)")
        }
        let samples = try CSVFile.read(SampleRow.self, file: folder.root + "/results/before/samples.csv")
        #expect(Set(samples.filter { $0.metric == "time" && $0.phase == "total" }.map(\.block)).count == 15)
        #expect(!samples.contains { $0.metric == "start_latency" })
        let gate = try await OpBenchProcess.run(
            ["gate", "--baseline", "before", "--candidate", "after", "--csv", "compare.csv"], in: folder)
        #expect([0, 2, 7].contains(gate.status), "\(gate.errors)")
        let judged = try CSVFile.read(CompareRow.self, file: folder.root + "/compare.csv").filter {
            $0.verdict != .unjudged
        }
        let counts: Set = ["allocations", "unreleased_bytes"]
        #expect(Set(judged.map(\.metric)).subtracting(counts) == ["time_ratio", "cpu_time_ratio"])
        #expect(judged.allSatisfy { counts.contains($0.metric) || $0.adjustedProbability != nil })
        let list = try RunList(in: folder.root + "/results")
        #expect(Set(list.rows.map(\.name)) == ["before", "after"] && list.rows.allSatisfy { $0.state == .finished })
        #expect(list.rows.allSatisfy { $0.blocks == 15 && $0.badSamples == 0 })
    }
}
