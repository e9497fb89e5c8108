import Testing

@testable import OpBenchModel

@Suite("What a gate needs of a run")
struct GateNeedsTests {
    private func needs(_ rules: String) throws -> GateNeeds {
        GateNeeds(of: try PolicyDecoder().decode(text: #"{"version": 1, "rules": [\#(rules)]}"#, file: "p.json"))
    }

    @Test("the default: fifteen throughput blocks with the baseline, and the few that tell allocations")
    func standard() {
        let needs = GateNeeds(of: .standard)
        #expect(needs.kinds == [.throughput, .memory] && needs.blocks == [.throughput: 15] && needs.takesBaseline)
    }

    @Test("the kinds that report what the rules name, and as many blocks as the strictest of them takes")
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
        #expect(all.kinds == Set(SampleKind.allCases) && all.takesBaseline)
        #expect(try needs(#"{"metric": "allocations", "max_regression": 0}"#).blocks == [:])
    }
}
