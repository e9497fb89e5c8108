import TestSupport
import Testing

@testable import OpBenchModel

@Suite("Gate policy")
struct PolicyTests {
    private func decode(_ text: String) throws -> GatePolicy {
        try GatePolicy.decode(text: text, file: "gate.json")
    }

    private func row(_ workload: String, _ backend: BackendID, _ metric: String, phase: String = "total") -> CompareRow
    {
        CompareRow(
            FigureName(cellID: "\(workload) items=10", backend: backend, metric: metric, phase: phase, stat: "total"))
    }

    @Test("The first matching rule judges; the file's defaults apply unless a rule overrides them")
    func rules() throws {
        let policy = try decode(
            """
            {"$schema": "schema/policy.schema.json", "version": 1, "alpha": 0.02, "min_blocks": 20, "rules": [
              {"workload": "tiny-*", "metric": "time_ratio", "max_regression": 0.03, "alpha": 0.001, "min_blocks": 7},
              {"backend": "engine", "metric": "time*", "max_regression": 0.1, "min_absolute": 1},
              {"backend": "dispatch:*", "metric": "time", "phase": "build", "max_regression": 1}]}
            """)
        #expect(
            policy.rule(for: row("tiny-x", .engine, "time_ratio"))
                == FigureRule(maxRegression: 0.03, alpha: 0.001, minBlocks: 7))
        #expect(
            policy.rule(for: row("chain", .engine, "time"))
                == FigureRule(maxRegression: 0.1, minAbsolute: 1, alpha: 0.02, minBlocks: 20))
        #expect(policy.rule(for: row("chain", .foundation, "time")) == nil)
        #expect(policy.rule(for: row("chain", BackendID(rawValue: "dispatch:notify"), "time")) == nil)
        #expect(policy.rule(for: row("c", BackendID(rawValue: "dispatch:notify"), "time", phase: "build")) != nil)
        #expect(policy.unusedRules(among: [row("chain", .engine, "time")]) == [0, 2])
        #expect(policy.unusedRules(among: [row("chain", .engine, "allocations")]) == [0])
    }

    @Test("A rule may compare with a baseline: it judges only figures that were compared with it")
    func baselines() throws {
        let policy = try decode(
            """
            {"version": 1, "rules": [
              {"metric": "time_ratio", "max_regression": 0.02},
              {"metric": "time_ratio", "max_regression": 0.05, "against": {"baseline": "v1"}},
              {"metric": "allocations", "max_regression": 0.1, "against": {"baseline": "v0.9"}},
              {"metric": "time_ratio", "max_regression": 0.5, "against": {"baseline": "v1", "//": "never reached"}}]}
            """)
        #expect(policy.baselines == ["v1", "v0.9"] && policy.comparisons == 3)
        var anchored = row("w", .engine, "time_ratio")
        #expect(policy.rule(for: anchored)?.maxRegression == 0.02)
        anchored.against = "v1"
        #expect(policy.rule(for: anchored)?.maxRegression == 0.05)
        anchored.against = "v0.9"
        #expect(policy.rule(for: anchored) == nil)
        #expect(policy.unusedRules(among: [row("w", .engine, "time_ratio")]) == [1, 3])
        #expect(GatePolicy.standard.baselines.isEmpty && GatePolicy.standard.comparisons == 1)
    }

    @Test("Without a file: the engine's ratio to Dispatch, and its allocations")
    func standard() throws {
        #expect(GatePolicy.standard.rule(for: row("w", .engine, "time_ratio"))?.maxRegression == 0.05)
        #expect(GatePolicy.standard.rule(for: row("w", .engine, "allocations"))?.maxRegression == 0.01)
        #expect(GatePolicy.standard.rule(for: row("w", .engine, "time")) == nil)
        #expect(GatePolicy.standard.rule(for: row("w", .dispatch, "allocations")) == nil)
        #expect(GatePolicy.standard.rule(for: row("w", BackendID(rawValue: "mine"), "allocations")) != nil)
    }

    @Test("`own` is the engine and every backend that is not built in; nothing else is")
    func own() throws {
        let policy = try decode(
            #"{"version": 1, "rules": [{"backend": "own", "metric": "time", "max_regression": 0}]}"#)
        func isJudged(_ backend: String) -> Bool {
            policy.rule(for: row("w", BackendID(rawValue: backend), "time")) != nil
        }
        #expect(isJudged("engine") && isJudged("mine") && isJudged("mine:fast"))
        for definition in BackendDefinition.builtIn where definition.id != .engine {
            #expect(!isJudged(definition.id.rawValue), "\(definition.id)")
        }
        let unknown = refusal {
            _ = try decode(#"{"version": 1, "rules": [{"backend": "mine", "metric": "time", "max_regression": 0}]}"#)
        }
        #expect(unknown.path == "$.rules[0].backend")
        Golden("policy-refusals").expect(unknown.description, "a program's own backend")
    }

    @Test("Goals: the bounded figure, the reference, and the blocks that a missed goal needs")
    func goals() throws {
        let policy = try decode(
            """
            {"version": 1, "min_blocks": 7, "rules": [
              {"cell": "tiny form=block", "metric": "time", "phase": "total", "against": "dispatch", "at_most": 0.45},
              {"metric": "time", "against": ["dispatch", "dispatch:notify"], "at_most": 0.7, "min_blocks": 20},
              {"workload": "chain", "metric": "time", "against": {"cell": "chain depth=10000"}, "at_most": 1.3},
              {"backend": "engine", "metric": "retained_bytes", "class": "", "at_most": 180}]}
            """)
        #expect(policy.isOfGoals)
        let notify = BackendID(rawValue: "dispatch:notify")
        #expect(
            policy.rules.map(\.against) == [
                .fastest([.dispatch]), .fastest([.dispatch, notify]), .cell("chain depth=10000"), nil,
            ])
        #expect(policy.rules.map(\.figure.atMost) == [0.45, 0.7, 1.3, 180])
        #expect(policy.rules.map(\.figure.minBlocks) == [7, 20, 7, 7])
        let selector = policy.rules[0].selector
        func row(_ cell: String) -> CompareRow {
            CompareRow(FigureName(cellID: cell, backend: .engine, metric: "time", phase: "total", stat: "total"))
        }
        #expect(selector.matches(row("tiny form=block").figure))
        #expect(!selector.matches(row("tiny").figure) && !selector.matches(row("tiny form=block items=1").figure))
        let alone = try decode(#"{"version": 1, "rules": [{"metric": "time", "at_most": 1}]}"#)
        #expect(alone.rules.map(\.figure.minBlocks) == [15])
    }

    @Test("Refusals name the place")
    func refused() {
        let policies = #"""
            []
            {"rules": []}
            {"version": 2, "rules": []}
            {"version": 1, "rules": []}
            {"version": 1, "rules": [{"max_regression": 1}]}
            {"version": 1, "rules": [{"metric": "tim", "max_regression": 1}]}
            {"version": 1, "rules": [{"metric": "load", "max_regression": 1}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": -1}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": "5%"}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": 1, "backend": "engin"}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": 1, "min_blocks": 2.5}]}
            {"version": 1, "alpha": 0, "rules": [{"metric": "time", "max_regression": 1}]}
            {"version": 1, "rule": []}
            {"version": 1, "rules": [{"metric": "time"}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "max_regression": 1}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": 1, "against": "dispatch"}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1}, {"metric": "time", "max_regression": 1}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": 1}, {"metric": "time", "at_most": 1}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "min_absolute": 1}]}
            {"version": 1, "alpha": 0.1, "rules": [{"metric": "time", "at_most": 1}]}
            {"version": 1, "rules": [{"at_most": 1}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": "1/40"}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": -1}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1e400}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": true}]}
            {"version": 1, "rules": [{"metric": "throughput_ops", "at_most": 1}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": "dispach"}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": []}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": ["serial", "serial"]}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": ["serial", 1]}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": 7}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": {}}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": {"cel": "w"}}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": {"cell": ""}}]}
            {"version": 1, "rules": [{"metric": "time", "at_most": 1, "against": {"baseline": "v1"}}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": 1, "against": {}}]}
            {"version": 1, "rules": [{"metric": "time", "max_regression": 1, "against": {"baseline": "../v1"}}]}
            {"version": 1e400, "rules": []}
            """#
        let lines = policies.split(separator: "\n").flatMap { text in
            ["\(text)", "  \(refusal { _ = try decode(String(text)) })"]
        }
        Golden("policy-refusals").expect(lines.joined(separator: "\n"), "policies")
    }

    @Test(
        "A star matches any text",
        arguments: [
            ("*", "", true), ("", "", true), ("", "a", false), ("a*c", "abbc", true), ("a*c", "ac", true),
            ("a*c", "abcd", false), ("*b*", "abc", true), ("a**", "a", true), ("*a", "aba", true), ("ab", "abc", false),
        ])
    func globs(pattern: String, name: String, expected: Bool) {
        #expect(Glob.matches(pattern, name) == expected)
    }

    @Test("The published schema is the generated one")
    func schema() throws {
        let file = Fixtures.package.appending(path: "workloads/schema/policy.schema.json")
        #expect(try Fixtures.text(file) == GatePolicy.schema())
    }
}
