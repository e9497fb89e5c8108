import Testing

@testable import OpBenchModel

@Suite("The samples that a gate needs")
struct GateNeedsTests {
    private func needs(_ rules: String) throws -> GateNeeds {
        GateNeeds(
            of: try GatePolicy.decode(text: #"{"version": 1, "rules": [\#(rules)]}"#, file: "p.json"),
            on: try workload("tiny-vs-batched"))
    }

    private func workload(_ name: String) throws -> WorkloadSpec {
        try #require(WorkloadSpec.load(files: Fixtures.shipped.map(\.path)).first { $0.name == name })
    }

    @Test("the default: fifteen throughput blocks with the baseline, and the default number of memory blocks")
    func standard() throws {
        let needs = GateNeeds(of: .standard, on: try workload("tiny-vs-batched"))
        #expect(needs.kinds == [.throughput, .memory] && needs.blocks == [.throughput: 15] && needs.takesBaseline)
        let sides = GateNeeds(of: .standardForSides, on: try workload("tiny-vs-batched"))
        #expect(sides.kinds == needs.kinds && sides.blocks == needs.blocks && !sides.takesBaseline)
    }

    @Test("as many blocks of latencies for an open loop", arguments: [GatePolicy.standard, .standardForSides])
    func openLoop(policy: GatePolicy) throws {
        let needs = GateNeeds(of: policy, on: try workload("open-loop"))
        #expect(needs.kinds == [.latency] && needs.blocks == [.latency: 15])
    }

    @Test("both for a replay, which has arrivals and an end", arguments: [GatePolicy.standard, .standardForSides])
    func replay(policy: GatePolicy) {
        let needs = GateNeeds(of: policy, workload: "w", shape: .replay)
        #expect(needs.kinds == [.throughput, .latency, .memory])
        #expect(needs.blocks == [.throughput: 15, .latency: 15])
    }

    @Test("rules for another workload need nothing")
    func otherWorkload() throws {
        let needs = try needs(#"{"workload": "chain*", "metric": "time", "max_regression": 0.1}"#)
        #expect(needs.kinds.isEmpty && needs.blocks.isEmpty)
    }

    @Test("the kinds that report the rules' metrics, and as many blocks as the strictest rule needs")
    func rules() throws {
        let latency = try needs(
            #"""
            {"metric": "start_latency", "max_regression": 0.1, "min_blocks": 20},
            {"metric": "end_latency", "max_regression": 0.1}, {"metric": "retained_bytes", "max_regression": 0}
            """#)
        #expect(latency.kinds == [.latency, .memory] && latency.blocks == [.latency: 20, .memory: 15])
        #expect(!latency.takesBaseline)
        let order = try needs(#"{"metric": "inversions", "at_most": 0, "min_blocks": 7}"#)
        #expect(order.kinds == [.latency, .check] && order.blocks == [.latency: 7])
        let all = try needs(#"{"metric": "*", "max_regression": 0.1}"#)
        #expect(all.kinds == [.throughput, .latency, .memory, .check] && all.takesBaseline)
        let counts = try needs(
            #"{"metric": "instructions", "max_regression": 0.02}, {"metric": "cache_*", "max_regression": 0.1}"#)
        #expect(counts.kinds == [.instructions, .counters] && counts.blocks == [.counters: 15])
        #expect(try needs(#"{"metric": "allocations", "max_regression": 0}"#).blocks == [:])
    }
}

@Suite("The backends that a policy judges")
struct JudgedBackendsTests {
    private func judged(_ rules: String, of backends: String, name: String = "w") throws -> [String] {
        let policy = try GatePolicy.decode(text: #"{"version": 1, "rules": [\#(rules)]}"#, file: "p.json")
        let spec = try WorkloadSpec.decode(
            text: """
                {"name": "\(name)", "summary": "s", "shape": "chain", "parameters": {"depth": [10, 20]},
                 "backends": [\(backends.split(separator: " ").map { "\"\($0)\"" }.joined(separator: ", "))]}
                """, file: "w.json")
        return policy.judgedBackends(of: spec).map(\.rawValue)
    }

    private static let all = "engine dispatch dispatch:notify foundation"

    @Test(
        "those that a rule selects on the workload, in the workload's order",
        arguments: [
            (#"{"backend": "own", "metric": "time", "max_regression": 0.1}"#, ["engine"]),
            (#"{"metric": "cpu_time", "max_regression": 0.1}"#, all.split(separator: " ").map(String.init)),
            (#"{"backend": "dispatch*", "metric": "time", "max_regression": 0.1}"#, ["dispatch", "dispatch:notify"]),
            (
                #"""
                {"backend": "foundation", "metric": "time", "max_regression": 0.1},
                {"backend": "engine", "metric": "time", "max_regression": 0.1}
                """#, ["engine", "foundation"]
            ), (#"{"workload": "other", "metric": "time", "max_regression": 0.1}"#, []),
            (#"{"cell": "w depth=20", "backend": "engine", "metric": "time", "max_regression": 0.1}"#, ["engine"]),
            (#"{"cell": "w depth=30", "metric": "time", "max_regression": 0.1}"#, []),
        ] as [(String, [String])])
    func rules(rules: String, names: [String]) throws {
        #expect(try judged(rules, of: Self.all) == names)
    }

    @Test("and those that ratios refer to, as far as the workload has them")
    func references() throws {
        let ratio = #"{"backend": "own", "metric": "time_ratio", "max_regression": 0.1}"#
        #expect(try judged(ratio, of: Self.all) == ["engine", "dispatch", "dispatch:notify"])
        #expect(try judged(ratio, of: "engine foundation") == ["engine"])
        #expect(try judged(ratio, of: "dispatch foundation") == [])
        let goal = #"""
            {"backend": "engine", "metric": "time", "phase": "total", "against": ["dispatch:notify", "foundation"], "at_most": 1}
            """#
        #expect(try judged(goal, of: Self.all) == ["engine", "dispatch:notify", "foundation"])
    }
}
