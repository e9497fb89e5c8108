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

    @Test("its runs have enough blocks for a verdict of the default gate")
    func plan() throws {
        let command = try ListCommand.parse(["--for-gate", folder.root + "/w.json"])
        let (selection, blocks) = try command.gate.load(command.selection, command.plan)
        var options = RunOptions.standard
        options.take(blocks)
        let samples = try RunPlan(specs: selection.specs, options: options).samples
        #expect(samples.count { $0.kind == .throughput } == 2 * 15 && !samples.contains { $0.kind == .latency })
        let ratios = GatePolicy.standard.rules.filter { $0.selector.metric.hasPrefix("time") }
        #expect(!ratios.isEmpty && ratios.allSatisfy { $0.figure.minBlocks <= 15 })
    }
}
