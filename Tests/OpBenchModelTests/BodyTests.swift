import Testing

@testable import OpBenchModel

/// `Fixtures.good` and `Fixtures.bad` have more bodies, for decoder and schema.
@Suite("Bodies of operations")
struct BodyTests {
    private func cell(_ body: String, _ more: String = "") throws -> Cell {
        try #require(try decode(parameters: "{\"body\": \(body)\(more)}").cells.first)
    }

    @Test("The default changes no id and no plan")
    func standard() throws {
        for cell in [try cell(#""cpu""#), try #require(try decode().cells.first)] {
            #expect(cell.id == "sample" && cell.body == .cpu)
            #expect(cell.parameters["body"] == .text("cpu"))
            #expect(WorkloadPlan(cell).body == nil && WorkloadPlan(cell).workNanoseconds == 100)
        }
    }

    @Test(
        "An id has the values that differ from their defaults; --set takes the same text",
        arguments: [
            (#""memory""#, "memory"), (#"{"memory": {}}"#, "memory"),
            (#"{"memory": {"footprint_bytes": 1048576, "stride_bytes": 8}}"#, "memory/stride_bytes:8"),
            (#"{"lock": {"locks": 2, "hold_ns": 0}}"#, "lock/hold_ns:0/locks:2"),
            (
                #"{"mix": [{"weight": 9, "body": "cpu"}, {"weight": 1, "body": {"sleep": {"sleep_ns": 5}}}]}"#,
                "mix/9:cpu/1:sleep/sleep_ns:5"
            ),
        ])
    func texts(json: String, text: String) throws {
        let cell = try cell(json)
        #expect(cell.id == (text == "cpu" ? "sample" : "sample body=\(text)"))
        #expect(!text.contains { " ,\"=".contains($0) })
        let set = try decode().overriding(["body": [.text(text)]])
        #expect(set.cells.map(\.id) == [cell.id] && set.cells.map(\.body) == [cell.body])
    }

    @Test(
        "Mistakes after --set are refused at their place",
        arguments: [
            ("memoy", "body"), ("memory/stride:1", "body.memory.stride"),
            ("memory/stride_bytes:0", "body.memory.stride_bytes"),
            ("memory/stride_bytes:x", "body"), ("memory/", "body"), ("", "body"), ("mix", "body"),
            ("mix/1:memory/stride_bytes:0", "body.mix[0].body.memory.stride_bytes"),
            ("mix/0:cpu", "body.mix[0].weight"),
        ])
    func settings(text: String, path: String) {
        let error = refusal { _ = try decode().overriding(["body": [.text(text)]]) }
        #expect(error.file == "--set" && error.path == path && error.line == nil, "\(error)")
    }

    @Test("Values that are not given have their defaults")
    func values() throws {
        let body = try cell(#"{"memory": {"stride_bytes": 8}}"#).body
        #expect(body.integer("stride_bytes") == 8 && body.integer("footprint_bytes") == 1 << 20)
    }

    @Test("A plan has the body, the work of a mix's cpu, and the seed of its draws")
    func plan() throws {
        let plan = WorkloadPlan(
            try cell(
                #"{"mix": [{"weight": 1, "body": "cpu"}, {"weight": 3, "body": {"sleep": {"sleep_ns": 100}}}]}"#,
                #", "work_ns": 500, "seed": 7"#))
        let body = try #require(plan.body)
        #expect((plan.workNanoseconds, body.workNanoseconds, body.seed) == (0, 500, 7))
        #expect(body.guessedNanoseconds == 200 && body.choice.sleepNanoseconds == 75)
    }

    @Test("A recorded workload may have a body that another program declares")
    func recorded() throws {
        let text = #"""
            {"name": "w", "summary": "s", "shape": "independent", "backends": ["engine"],
             "parameters": {"body": ["theirs", {"mix": [{"weight": 1, "body": "theirs"}]}]}}
            """#
        let spec = try WorkloadSpec.decode(text: text, file: "w.json", backends: .recorded)
        #expect(spec.cells.map(\.id) == ["w body=theirs", "w body=mix/1:theirs"])
        #expect(
            refusals { _ = try WorkloadSpec.decode(text: text, file: "w.json") }.map(\.path) == [
                "$.parameters.body[0]", "$.parameters.body[1].mix[0].body",
            ])
    }

    @Test("Names of declared bodies are checked", arguments: ["", "Mine", "9", "a:b", "cpu", "mix", "twice"])
    func declarations(name: String) {
        let bodies = [DeclaredBodies.Declared("twice") { _ in }, DeclaredBodies.Declared(name) { _ in }]
        #expect(throws: InputError.self) { try DeclaredBodies.declare(bodies) }
        #expect(DeclaredBodies.all.isEmpty)
    }
}
