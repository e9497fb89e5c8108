import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("All mistakes at once")
struct MistakesTests {
    private func paths(_ text: String) -> [String] {
        refusals { _ = try WorkloadSpec.decode(text: text, file: "w.json") }.map { "\($0.line ?? 0) \($0.path)" }
    }

    @Test("every part of a workload is checked, and mistakes are in the order of lines")
    func workload() {
        let found = paths(
            """
            {"name": "Chain", "summary": "",
             "shape": "chain",
             "parameters": {"depth": [10, 0, "x", 10], "dept": 3,
                            "order": "backward", "seed": [1, 2]},
             "backends": ["engin", "engine", "engine", "engine:counted"],
             "sample_kinds": ["latency", "latncy"],
             "skip": [{"backend": "engine", "when": {"depth": {"above": "x"}, "form": 1}},
                      {"backend": "serail", "reason": "r"}],
             "expect": [{"backend": "engine", "status": "fine", "reason": ""}],
             "extra": 1}
            """)
        #expect(
            found == [
                "1 $.name", "1 $.summary",
                "3 $.parameters.dept", "3 $.parameters.depth[1]", "3 $.parameters.depth[2]", "3 $.parameters.depth[3]",
                "4 $.parameters.order", "4 $.parameters.seed",
                "5 $.backends[0]", "5 $.backends[2]", "5 $.backends[3]", "6 $.sample_kinds[1]",
                "7 $.skip[0]", "7 $.skip[0].when.form", "7 $.skip[0].when.depth.above", "8 $.skip[1].backend",
                "9 $.expect[0].status", "9 $.expect[0].reason", "10 $.extra",
            ])
    }

    @Test(
        "one cause is one mistake: a misspelt name is not missing too, its value is checked, and nothing follows",
        arguments: [
            // The name of a required member.
            (
                #"{"name": "w", "summary": "s", "shape": "chain", "paramters": {"depth": 0}, "backends": ["engine"]}"#,
                ["$.paramters", "$.paramters.depth"]
            ),
            // The shape, which determines all other checks.
            (
                #"{"name": "w", "summary": "s", "shape": "chian", "parameters": {"depth": 0}, "backends": ["engine"]}"#,
                ["$.shape", "$.parameters.depth"]
            ),
            // An unrecognisable shape: parts that depend on it are not checked.
            (
                #"{"name": "w", "summary": "s", "shape": "zzzzzzzz", "parameters": {"depth": 0}, "backends": ["engin"]}"#,
                ["$.shape", "$.backends[0]"]
            ),
            // Several missing members.
            (#"{"name": "w"}"#, ["$"]),
            // Cells that are all impossible for one reason, and another mistake.
            (
                #"""
                {"name": "w", "summary": "s", "shape": "blocking", "backends": ["engine", 1],
                 "parameters": {"kind": "wait", "max_concurrent": 1, "operations": [2, 4, 6]}}
                """#, ["$.backends[1]", "$.parameters"]
            ),
        ])
    func causes(text: String, expected: [String]) {
        #expect(refusals { _ = try WorkloadSpec.decode(text: text, file: "w.json") }.map(\.path) == expected)
    }

    @Test("a comma too many or too few, a comment and a duplicate member do not end parsing")
    func syntax() {
        let text = """
            // A workload.
            {"name": "w", "name": "v", "summary": "s" "shape": "chain", /* more
            */
             "parameters": {"depth": [0,],}, "backends": ["engine" "serial"],
            }
            """
        let errors = refusals { _ = try WorkloadSpec.decode(text: text, file: "w.json") }
        #expect(errors.map(\.line) == [1, 2, 2, 4, 4, 4, 4, 5])
        #expect(errors[1].path == "$.name" && errors.contains { $0.path == "$.parameters.depth[0]" })
        // The mistake that ends parsing comes after the earlier ones.
        let cut = refusals { _ = try WorkloadSpec.decode(text: #"{"a": 1, "a": 2, "b": }"#, file: "w.json") }
        #expect(cut.map(\.path) == ["$.a", ""])
        Golden("json-mistakes").expect((errors + cut).map(\.description).joined(separator: "\n"), "workload")
    }

    @Test("the mistakes of all files, including missing ones")
    func files() throws {
        let good = Fixtures.standard[0].path
        try Fixtures.withFile("{") { bad in
            let errors = refusals { _ = try WorkloadSpec.load(files: [bad, "/no/such.json", good, good]) }
            #expect(errors.map(\.file) == [bad, "/no/such.json", good])
            #expect(errors.last?.path == "$.name")
        }
    }

    @Test("every rule of a policy is checked; mixing rules of both kinds is one mistake")
    func policy() {
        let text = """
            {"version": 3, "alpha": 1,
             "rules": [
              {"metric": "tiem", "max_regression": -1, "backend": "engin"},
              {"metric": "time", "max_regresion": 0.1, "min_blocks": 0},
              {"metric": "time", "at_most": "x"},
              {"metric": "time", "at_most": 1, "against": ["serial", "serial", "x"]},
              7]}
            """
        let errors = refusals { _ = try GatePolicy.decode(text: text, file: "p.json") }
        #expect(
            errors.map { "\($0.line!) \($0.path)" } == [
                "1 $.version", "1 $.alpha", "3 $.rules[0].backend", "3 $.rules[0].metric",
                "3 $.rules[0].max_regression", "4 $.rules[1].max_regresion", "4 $.rules[1].min_blocks",
                "5 $.rules[2].at_most", "5 $.rules[2]", "6 $.rules[3].against[1]", "6 $.rules[3].against[2]",
                "7 $.rules[4]",
            ])
    }

    @Test("the numbers of kept and of printed mistakes are limited, and the others are counted")
    func bound() throws {
        let zeros = Array(repeating: "0", count: 5000).joined(separator: ",")
        let errors = try #require(throws: InputErrors.self) { _ = try decode(parameters: #"{"items": [\#(zeros)]}"#) }
        #expect(errors.errors.count == 1000 && errors.omitted == 4000)
        let lines = errors.lines(limit: 20)
        #expect(lines.count == 21 && lines.last?.contains("4980") == true)
        #expect(errors.first.message.contains("4999"))
    }

    @Test("the same mistake in several workloads, such as one option, is reported once")
    func once() throws {
        let specs = [try decode(), try decode(shape: "chain")]
        let errors = refusals { _ = try WorkloadSpec.overriding(specs, with: ["work_ns": [.text("-1")], "x": []]) }
        #expect(errors.map(\.path) == ["x", "work_ns"])
    }
}

@Suite("Comments in JSON")
struct CommentTests {
    @Test("a member of any object whose name begins with // is ignored")
    func workload() throws {
        let spec = try WorkloadSpec.decode(
            text: """
                {"//": "a chain", "name": "w", "summary": "s", "shape": "priority_mix", "// skip": 7,
                 "parameters": {"// mix": ["of", "two"], "mix": {"// odd\\n": 0, "high": 1, "low": 2}, "//operations": -1},
                 "backends": ["engine"],
                 "skip": [{"//": null, "backend": "engine", "reason": "r",
                           "when": {"//": 1, "operations": {"// bound": 1, "above": 5}}}]}
                """, file: "w.json")
        #expect(spec.cells.map(\.id) == ["w mix=high:1/low:2"])
        #expect(spec.skips.map(\.conditions) == [["operations": ParameterCondition(above: 5)]])
        let policy = try GatePolicy.decode(
            text: """
                {"//": "p", "version": 1, "rules": [{"// why": "w", "metric": "time", "at_most": 1,
                 "against": {"//": 1, "cell": "w"}}]}
                """, file: "p.json")
        #expect(policy.rules.map(\.against) == [.cell("w")])
    }

    @Test("comments do not count as a condition or a weight")
    func nothing() {
        #expect(
            refusal { _ = try decode(shape: "priority_mix", parameters: #"{"mix": {"//": 1}}"#) }.path
                == "$.parameters.mix")
        let skip = #""skip": [{"backend": "engine", "when": {"//": 1}, "reason": "r"}]"#
        #expect(refusal { _ = try decode(more: skip) }.path == "$.skip[0].when")
    }
}

@Suite("Workloads made from the definitions")
struct TemplateTests {
    static let templates = ShapeDefinition.all.map { definition in
        WorkloadTemplate(
            definition, file: "new/my-own.json",
            backends: BackendID.known(for: definition.shape).filter { !$0.rawValue.contains(":") })
    }

    @Test(
        "for every shape: valid, one cell with every default, no warning, and each parameter explained",
        arguments: Shape.allCases)
    func valid(shape: Shape) throws {
        let definition = ShapeDefinition.of(shape)
        let template = WorkloadTemplate(definition, file: "new/my-own.json", backends: [.engine, .dispatch])
        for text in [template.text, template.example] {
            let spec = try WorkloadSpec.decode(text: text, file: "my-own.json")
            #expect(spec.shape == shape && spec.warnings() == [])
            #expect(spec.cells.map(\.id) == ["my-own"])
            #expect(spec.sampleKinds == definition.usualKinds)
        }
        for parameter in definition.parameters {
            #expect(
                template.text.contains("\"// \(parameter.name)\": [")
                    && template.text.contains("  \"\(parameter.name)\": "))
        }
        #expect(template.text.split(separator: "\n").allSatisfy { $0.count <= 130 })
    }

    @Test(
        "named after the file, if that is a valid workload name",
        arguments: [("a/b-1.json", "b-1"), ("Über.json", "chain"), (".json", "chain"), ("", "chain"), ("/", "chain")])
    func names(file: String, expected: String) throws {
        let text = WorkloadTemplate(.of(.chain), file: file, backends: [.engine]).text
        #expect(try WorkloadSpec.decode(text: text, file: "x").name == expected)
    }

    @Test("rules written as comments are valid without their mark")
    func rules() throws {
        let text = WorkloadTemplate(.of(.chain), file: nil, backends: [.engine, .serial]).text
        let spec = try WorkloadSpec.decode(
            text: text.replacingOccurrences(of: "\"// skip\"", with: "\"skip\"")
                .replacingOccurrences(of: "\"// expect\"", with: "\"expect\""), file: "x")
        #expect(spec.skips.count == 1 && spec.expectations.count == 1)
    }
}
