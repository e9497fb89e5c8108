import Foundation
import Testing

@testable import OpBenchModel

@Suite("Workloads")
struct WorkloadTests {
    @Test("Valid workloads are read; ids of cells need no quoting in CSV", arguments: try Fixtures.valid())
    func good(workload: Fixtures.Case) throws {
        let spec = try WorkloadSpec.decode(text: workload.text, file: workload.name)
        let ids = spec.cells.map(\.id)
        #expect(!ids.isEmpty && Set(ids).count == ids.count)
        #expect(!ids.contains { id in id.contains("  ") || id.contains { ",\"\r\n\t".contains($0) } })
        #expect(spec.text == workload.text && spec.sha256.count == 64)
    }

    @Test("A file without parameters has every default, the usual kinds of sample, and its name as the id")
    func defaults() throws {
        for shape in Shape.allCases {
            let spec = try decode(shape: shape.rawValue)
            let cell = try #require(spec.cells.first)
            #expect(cell.id == "sample")
            #expect(spec.sampleKinds == ShapeDefinition.of(shape).usualKinds)
            for parameter in ShapeDefinition.of(shape).parameters {
                #expect(cell.parameters[parameter.name] == parameter.defaultValue)
            }
            #expect(cell.parameters.count == ShapeDefinition.of(shape).parameters.count)
        }
    }

    @Test("Lists multiply, the last parameter of the definition varying fastest")
    func product() throws {
        let spec = try decode(parameters: #"{"work_ns": [5, 100], "seed": 9, "items": [7, 100000], "window": 10}"#)
        #expect(
            spec.cells.map(\.id) == [
                "sample items=7 window=10 work_ns=5", "sample items=7 window=10", "sample window=10 work_ns=5",
                "sample window=10",
            ])
        #expect(spec.cells.allSatisfy { $0.integer("seed") == 9 })
    }

    @Test("Values are read by name")
    func accessors() throws {
        let cells = try decode(
            shape: "priority_mix",
            parameters: #"{"mix": {"low": 1, "high": 2.5, "normal": 0}, "max_concurrent": ["default", 3]}"#
        ).cells
        #expect(cells.map(\.maxConcurrent) == [nil, 3])
        #expect(cells[0].weights("mix").map(\.key) == ["high", "low"])
        #expect(cells[0].weights("mix").map(\.weight) == [2.5, 1])
        #expect(cells[0].text("enqueue") == "suspended")
        #expect(cells[1].id == "sample max_concurrent=3 mix=high:2.5/low:1")
    }

    @Test("The last operation is smaller if items do not divide evenly")
    func operations() throws {
        let cells = try decode(parameters: #"{"items": 1001, "items_per_operation": [1, 10, 1001, 5000]}"#).cells
        #expect(cells.map(\.operationCount) == [1001, 101, 1, 1])
        #expect(cells.map(\.itemCount) == [1001, 1001, 1001, 1001])
        let chains = try decode(shape: "chain", parameters: #"{"depth": 7, "chains": 3}"#).cells
        #expect(chains.map(\.operationCount) == [21])
    }

    @Test("Keys of weights have one spelling")
    func weightKeys() throws {
        let spec = try decode(shape: "thread_priority", parameters: #"{"mix": {"0": 1, "0.50": 2, "1.0": 0}}"#)
        #expect(spec.cells.map(\.id) == ["sample mix=0.0:1/0.5:2"])
    }

    @Test(
        "SHA-256 of known texts",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func digest(text: String, expected: String) {
        #expect(SHA256.hexadecimal(of: Array(text.utf8)) == expected)
    }

    // MARK: Excessive sizes

    @Test("A list of backends takes linear time", .onOwnThreads)
    func manyBackends() {
        let names = Array(repeating: "\"engine\"", count: 10_000) + Array(repeating: "\"dispatch\"", count: 10_000)
        let mistakes = #expect(throws: InputErrors.self) {
            try decode(backends: "[" + names.joined(separator: ",") + "]")
        }
        #expect(mistakes?.errors.first?.path == "$.backends[1]")
        #expect((mistakes?.omitted ?? 0) > 15_000)
    }

    @Test("The names of all cells are bounded, since every row has one", .onOwnThreads)
    func longCellNames() {
        let weights = (0..<100).map { "\"0.\(100_000 + $0)\": 0.12345678901\($0)" }.joined(separator: ",")
        let parameters = "{\"mix\": {\(weights)}, \"work_ns\": \(Array(0..<50_000))}"
        let error = refusal { _ = try decode(shape: "thread_priority", parameters: parameters) }
        #expect(error.message.contains("50000"))
    }
}

@Suite("Rules of a workload")
struct RuleTests {
    private func spec() throws -> WorkloadSpec {
        try decode(
            shape: "chain", parameters: #"{"depth": [10, 50, 100], "max_concurrent": ["default", 1]}"#,
            backends: #"["engine", "foundation"]"#,
            more: """
                "skip": [
                  {"backend": "foundation", "when": {"depth": {"above": 10, "below": 100}}, "reason": "middle"},
                  {"backend": "foundation", "when": {"depth": 100, "max_concurrent": 1}, "reason": "both"}],
                "expect": [
                  {"backend": "foundation", "status": "crashed", "reason": "always"},
                  {"backend": "foundation", "when": {"max_concurrent": {"below": 5}}, "status": "timeout", "reason": "1"}]
                """)
    }

    @Test("A rule applies if all its conditions hold; bounds are strict")
    func skips() throws {
        let spec = try spec()
        let skipped = spec.cells.filter { spec.skipRule(for: .foundation, in: $0) != nil }.map(\.id)
        #expect(
            skipped == [
                "sample depth=50", "sample depth=50 max_concurrent=1", "sample depth=100 max_concurrent=1",
            ])
        #expect(spec.cells.allSatisfy { spec.skipRule(for: .engine, in: $0) == nil })
    }

    @Test("An expectation without conditions applies to every cell; bounds do not match a word")
    func expectations() throws {
        let spec = try spec()
        for cell in spec.cells {
            #expect(spec.expectation(of: .crashed, for: .foundation, in: cell)?.reason == "always")
            #expect(spec.expectation(of: .crashed, for: .engine, in: cell) == nil)
            #expect((spec.expectation(of: .timeout, for: .foundation, in: cell) != nil) == (cell.maxConcurrent == 1))
        }
    }

    @Test("A rule applies to one backend, several or all")
    func severalBackends() throws {
        func skipped(_ backends: String) throws -> [BackendID] {
            let spec = try decode(
                backends: #"["engine", "foundation", "dispatch"]"#,
                more: #""skip": [{"backend": \#(backends), "reason": "r"}]"#)
            #expect(spec.warnings() == [])
            let cell = try #require(spec.cells.first)
            return spec.backends.filter { spec.skipRule(for: $0, in: cell) != nil }
        }
        #expect(try skipped(#""*""#) == [.engine, .foundation, .dispatch])
        #expect(try skipped(#"["foundation", "dispatch"]"#) == [.foundation, .dispatch])
        #expect(try skipped(#""dispatch""#) == [.dispatch])
    }

    @Test(
        "An invalid list of backends is refused at its place",
        arguments: [
            ("[]", "$.skip[0].backend"), (#"["*"]"#, "$.skip[0].backend[0]"), (#""**""#, "$.skip[0].backend"),
            (#"["engine", "engine"]"#, "$.skip[0].backend[1]"), ("7", "$.skip[0].backend"),
        ])
    func badBackends(backends: String, path: String) throws {
        let error = refusal { _ = try decode(more: #""skip": [{"backend": \#(backends), "reason": "r"}]"#) }
        #expect(error.path == path)
    }

    @Test("A rule that matches nothing gives a warning")
    func warnings() throws {
        #expect(try spec().warnings() == [])
        let idle = try decode(
            parameters: #"{"items": [10, 20]}"#,
            more: """
                "skip": [{"backend": "engine", "when": {"items": 30}, "reason": "none"}],
                "expect": [{"backend": "foundation", "status": "timeout", "reason": "not listed"}]
                """)
        let warnings = idle.warnings()
        #expect(warnings.count == 2)
        #expect(warnings[0].contains("sample.json: $.skip[0]") && warnings[1].contains("foundation"))
    }
}

@Suite("--set")
struct OverrideTests {
    @Test("Text is decoded by the parameter's kind")
    func kinds() throws {
        let mix = try decode(shape: "priority_mix")
        let changed = try mix.overriding([
            "mix": [.text("high:1/low:2.5")], "max_concurrent": [.text("default"), .text("4")],
            "operations": [.text("1e3")], "seed": [.integer(5)],
        ])
        #expect(
            changed.cells.map(\.id) == [
                "sample mix=high:1/low:2.5 operations=1000",
                "sample max_concurrent=4 mix=high:1/low:2.5 operations=1000",
            ])
        #expect(changed.cells[0].integer("seed") == 5)
        #expect(mix.axes.isEmpty)
    }

    @Test("Each workload takes the parameters that it has; at least one must have each")
    func several() throws {
        let specs = [try decode(), try decode(shape: "chain")]
        let changed = try WorkloadSpec.overriding(specs, with: ["items": [.text("10")], "work_ns": [.text("0")]])
        #expect(changed.flatMap { $0.cells.map(\.id) } == ["sample items=10 work_ns=0", "sample work_ns=0"])
        let error = refusal { _ = try WorkloadSpec.overriding(specs, with: ["itms": [.text("10")]]) }
        #expect(error.remedy.contains("\"items\""))
    }
}

@Suite("Zipped lists")
struct ZipTests {
    private let more = #""zip": [{"items": [10, 20, 20], "work_ns": [5, 5, 7]}]"#

    @Test("A zip is one factor of the product, which varies fastest")
    func cells() throws {
        let spec = try decode(parameters: #"{"producers": [1, 2]}"#, more: more)
        #expect(
            spec.cells.map(\.id) == [
                "sample items=10 work_ns=5", "sample items=20 work_ns=5", "sample items=20 work_ns=7",
                "sample items=10 producers=2 work_ns=5", "sample items=20 producers=2 work_ns=5",
                "sample items=20 producers=2 work_ns=7",
            ])
        #expect(spec.extent.cells == 6)
    }

    @Test(
        "Lists that do not match are refused at their place",
        arguments: [
            (#"[{"items": [1, 2], "work_ns": [5]}]"#, "$.zip[0]"), (#"[{"items": [1, 2]}]"#, "$.zip[0]"),
            (#"[{"items": [1, 1], "work_ns": [5, 5]}]"#, "$.zip[0]"), ("[]", "$.zip"), ("7", "$.zip"),
            (#"[{"items": [1, 0], "work_ns": [5, 6]}]"#, "$.zip[0].items[1]"),
            (#"[{"items": 1, "work_ns": [5]}]"#, "$.zip[0].items"),
            (#"[{"item": [1, 2], "work_ns": [5, 6]}]"#, "$.zip[0].item"),
            (#"[{"producers": [1, 2], "work_ns": [5, 6]}]"#, "$.zip[0].producers"),
            (
                #"[{"items": [1, 2], "work_ns": [5, 6]}, {"items": [3], "window": [4]}]"#, "$.zip[1].items"
            ),
        ])
    func bad(zip: String, path: String) throws {
        let error = refusal { _ = try decode(parameters: #"{"producers": 2}"#, more: #""zip": \#(zip)"#) }
        #expect(error.path == path, "\(error)")
    }

    @Test("--set takes a parameter out of its zip")
    func overridden() throws {
        let spec = try decode(more: more)
        let items = try spec.overriding(["items": [.text("30")]])
        #expect(items.cells.map(\.id) == ["sample items=30 work_ns=5", "sample items=30 work_ns=7"])
        #expect(items.zips.isEmpty)
        let both = try spec.overriding(["items": [.text("30")], "work_ns": [.text("1")]])
        #expect(both.cells.map(\.id) == ["sample items=30 work_ns=1"])
        let three = try decode(more: #""zip": [{"items": [1, 2, 2], "work_ns": [5, 6, 7], "producers": [1, 1, 2]}]"#)
        let rest = try three.overriding(["work_ns": [.text("0")]])
        #expect(
            rest.cells.map(\.id) == [
                "sample items=1 work_ns=0", "sample items=2 work_ns=0", "sample items=2 producers=2 work_ns=0",
            ])
    }
}

@Suite("Loads of an open loop")
struct LoadTests {
    @Test("A load is a decimal number, part of the cell's id, and can be set and compared")
    func values() throws {
        let spec = try decode(
            shape: "open_loop", parameters: #"{"load": [0.5, 0.80, 2]}"#,
            more: #""skip": [{"backend": "engine", "when": {"load": {"above": 0.5}}, "reason": "r"}]"#)
        #expect(spec.cells.map(\.id) == ["sample load=0.5", "sample load=0.8", "sample load=2"])
        #expect(spec.cells.map { spec.skipRule(for: .engine, in: $0) != nil } == [false, true, true])
        #expect(spec.cells.allSatisfy { $0.measuresRate })
        let set = try spec.overriding(["load": [.text("0.25")]])
        #expect(set.cells.map { $0.number("load") } == [0.25])
        #expect(try decode(shape: "open_loop", parameters: #"{"load": -0.0}"#).cells[0].id == "sample")
    }

    @Test(
        "A load beside a rate or a stall is refused",
        arguments: [
            ("open_loop", #"{"load": 0.5, "rate": 20000}"#), ("open_loop", #"{"load": 0.5, "rate": "search"}"#),
            ("open_loop", #"{"load": 0.5, "stall_ns": 1000}"#), ("open_loop", #"{"load": 11}"#),
            ("open_loop", #"{"load": "half"}"#),
        ])
    func refused(shape: String, parameters: String) throws {
        let error = refusal { _ = try decode(shape: shape, parameters: parameters) }
        #expect(error.path.hasPrefix("$.parameters"))
    }
}
