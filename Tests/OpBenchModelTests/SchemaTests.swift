import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("The published schema")
struct SchemaTests {
    @Test("The committed file matches the definitions: `opbench describe workload-schema` writes it")
    func current() throws {
        #expect(try Fixtures.text(Fixtures.schema) == WorkloadSpec.schema())
    }
}

/// Checks that schema and decoder agree, with a standard validator.
@Suite("Schema and decoder agree", .enabled(if: Validator.isWanted, "\(Validator.absence)"))
struct SchemaAgreementTests {
    @Test("On valid workloads, including comments")
    func good() throws {
        let texts = try Fixtures.valid().map(\.text) + TemplateTests.templates.map(\.text)
        let lines = texts.map { $0.split(separator: "\n").joined(separator: " ") }
        #expect(try Validator.verdicts(on: lines) == lines.map { _ in true })
    }

    @Test("On bad workloads, except for those that only the decoder refuses")
    func bad() throws {
        for (cases, isExpected) in [(Fixtures.bad, false), (Fixtures.decoderOnly, true)] {
            let verdicts = try Validator.verdicts(on: cases.map(\.text))
            #expect(verdicts.count == cases.count)
            for (bad, isValid) in zip(cases, verdicts) { #expect(isValid == isExpected, "\(bad.name)") }
        }
    }

    @Test("On files with one value replaced")
    func replaced() throws {
        var files: [JSONValue] = []
        for workload in try Fixtures.valid() {
            files += Replacements.all(in: try JSONParser.parse(workload.text, file: "x").value)
        }
        var generator = Numbers(state: 7)
        let drawn = files.shuffled(using: &generator).prefix(1500).map(Replacements.oneLine)
        let verdicts = try Validator.verdicts(on: drawn)
        #expect(verdicts.count == drawn.count)
        for (text, isValid) in zip(drawn, verdicts) {
            #expect(isSound(text) == isValid, "\(text)")
        }
    }

    @Test("On policies with one value replaced")
    func policies() throws {
        let schema = Fixtures.package.appending(path: "workloads/schema/policy.schema.json")
        var files: [JSONValue] = []
        for name in ShippedPolicyTests.policies + ShippedPolicyTests.goals {
            let file = Fixtures.package.appending(path: "workloads/policies/\(name)")
            let root = try JSONParser.parse(try Fixtures.text(file), file: "x").value
            #expect(isSoundPolicy(Replacements.oneLine(root)))
            files += Self.examples(of: root).flatMap { Replacements.all(in: $0, pool: Replacements.ofPolicies) }
        }
        var generator = Numbers(state: 11)
        let drawn = files.shuffled(using: &generator).prefix(1500).map(Replacements.oneLine)
        let verdicts = try Validator.verdicts(on: drawn, schema: schema)
        #expect(verdicts.count == 1500 && verdicts.contains(true) && verdicts.contains(false))
        let rules = #"{"metric": "time", "max_regression": 1}, {"metric": "time", "at_most": 1}"#
        let mixed = #"{"version": 1, "rules": [\#(rules)]}"#
        #expect(try Validator.verdicts(on: [mixed], schema: schema) == [false] && !isSoundPolicy(mixed))
        for (text, isValid) in zip(drawn, verdicts) { #expect(isSoundPolicy(text) == isValid, "\(text)") }
    }

    /// The policy with each kind of rule that it has, one or two at a time.
    private static func examples(of policy: JSONValue) -> [JSONValue] {
        guard case .object(let members) = policy.content,
            case .array(let rules)? = members.first(where: { $0.name == "rules" })?.value.content
        else { return [] }
        let otherCell = JSONValue.object(
            ("metric", .string("time")), ("at_most", .integer(1)),
            ("against", .object(("cell", .string("w")))))
        let listed = JSONValue.object(
            ("metric", .string("time")), ("at_most", .integer(1)),
            ("against", .list(.string("dispatch"), .string("serial"))))
        let anchored = JSONValue.object(
            ("metric", .string("time")), ("max_regression", .integer(1)),
            ("against", .object(("baseline", .string("v1")))))
        return [Array(rules.prefix(2)), [otherCell], [listed], [anchored]].map { rules in
            .members(members.map { ($0.name, $0.name == "rules" ? JSONValue(.array(rules)) : $0.value) })
        }
    }

    /// Whether the decoder accepts the text, or refuses it for a reason that a schema cannot express.
    private func isSoundPolicy(_ text: String) -> Bool {
        do {
            _ = try GatePolicy.decode(text: text, file: "x")
            return true
        } catch {
            return error.errors.allSatisfy { Self.unsaid.contains(Self.unquoted($0.message)) }
        }
    }

    /// Messages without their quotations: for a name that matches nothing, and for an alpha beside goals.
    private static let unsaid = Set(
        [
            #"{"version": 1, "rules": [{"metric": "tim", "max_regression": 1}]}"#,
            #"{"version": 1, "alpha": 0.1, "rules": [{"metric": "time", "at_most": 1}]}"#,
        ].map { text in unquoted(refusal { _ = try GatePolicy.decode(text: text, file: "x") }.message) })

    private static func unquoted(_ message: String) -> String {
        message.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
    }

    /// Whether the decoder accepts the text, or refuses it only for a cell whose values cannot be combined, for columns
    /// that do not make up a recording, or for a body that a list has in two spellings.
    private func isSound(_ text: String) -> Bool {
        do {
            _ = try WorkloadSpec.decode(text: text, file: "x")
            return true
        } catch {
            // Such a cell is a mistake of the parameters as a whole. In a schema, only a non-object is.
            guard let root = try? JSONParser.parse(text, file: "x").value,
                case .object? = Self.value(at: ["parameters"], in: root)?.content
            else { return false }
            return error.errors.allSatisfy {
                $0.path == "$.parameters" || Self.isColumn($0.path, in: root) || Self.isSpelledTwice($0, in: root)
            }
        }
    }

    /// Whether the error is of a body that its list has twice, once with its defaults, which no text shows.
    private static func isSpelledTwice(_ error: InputError, in root: JSONValue) -> Bool {
        let words = error.path.split(whereSeparator: { ".[]".contains($0) }).dropFirst().map(String.init)
        let list = value(at: Array(words.dropLast()), in: root)
        guard words.contains("body"), error.message.contains("twice"), case .array(let list)? = list?.content else {
            return false
        }
        return Set(list.map(Replacements.oneLine)).count == list.count
    }

    /// Whether the path is that of a recording's column, in the parameters or in a condition, which is a list.
    private static func isColumn(_ path: String, in root: JSONValue) -> Bool {
        let words = path.split(whereSeparator: { ".[]".contains($0) }).dropFirst().map(String.init)
        guard words.contains("recording"), case .array(let numbers)? = value(at: words, in: root)?.content else {
            return false
        }
        return !numbers.isEmpty && RecordedLoad.Column(rawValue: words.last!) != nil
    }

    private static func value(at words: [String], in root: JSONValue) -> JSONValue? {
        words.reduce(root) { value, word in
            switch value?.content {
            case .object(let members): members.first { $0.name == word }?.value
            case .array(let elements): Int(word).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }
}

/// Each workload with one of its values replaced by a possibly invalid one.
private enum Replacements {
    /// No value makes a product too large, which only the decoder refuses.
    static let pool: [JSONValue] = [
        JSONValue(.null), true, .integer(0), .integer(1), .integer(-1), JSONValue(.number(JSONNumber(text: "2.0"))),
        JSONValue(.number(JSONNumber(text: "1.5"))), JSONValue(.number(JSONNumber(text: "1e400"))),
        .integer(1_000_000_000_000), .string(""), .string("engine"), .string("default"), .string("chain"),
        .string("latency"), .string("x\n"), .string(String(repeating: "y", count: 300)), JSONValue(.array([])),
        .list(.integer(1)), .list(.integer(1), .integer(1)), .list(.string("engine")), .object(),
        .object(("// comment", .integer(1))), .object(("//", "x"), ("equals", .integer(1))),
        .object(("//", "x\n"), ("high", .integer(1))), .object(("//\n", "x"), ("0.5", .integer(1))),
        .object(("//", "x"), ("high", .integer(0))),
        .object(("equals", .integer(1))), .object(("below", .integer(10))), .object(("high", .integer(1))),
        .object(("0.5", .integer(1))), .object(("backend", .string("engine")), ("reason", .string("x"))),
    ]

    /// The same values, and those of policies.
    static let ofPolicies =
        pool + [
            .string("*"), .string("dispatch"), .list(.string("dispatch")), .list(.string("dispach")),
            .list(.string("dispatch"), .string("dispatch")), .object(("cell", .string("w"))),
            .object(("cell", .string(""))),
            .object(("cell", .integer(1))), .object(("cell", .string("w")), ("backend", .string("engine"))),
            .object(("baseline", .string("v1.2"))), .object(("baseline", .string("a/b"))),
        ]

    static func all(in value: JSONValue, pool: [JSONValue] = pool) -> [JSONValue] {
        pool + inside(value, pool)
    }

    static func oneLine(_ value: JSONValue) -> String {
        JSONText.write(value).split(separator: "\n").joined(separator: " ")
    }

    private static func inside(_ value: JSONValue, _ pool: [JSONValue]) -> [JSONValue] {
        switch value.content {
        case .array(let elements):
            return elements.indices.flatMap { index in
                all(in: elements[index], pool: pool).map { replacement in
                    var changed = elements
                    changed[index] = replacement
                    return JSONValue(.array(changed))
                }
            }
        case .object(let members):
            return members.indices.flatMap { index in
                all(in: members[index].value, pool: pool).map { replacement in
                    .members(members.enumerated().map { ($1.name, $0 == index ? replacement : $1.value) })
                }
            }
        default: return []
        }
    }
}

/// A third-party JSON Schema validator: Python's `jsonschema`, run by the interpreter that scripts/test sets up.
private enum Validator {
    static let python = PackageFolder.program(".venv/bin/python")
    static let absence = "there is no .venv with jsonschema; scripts/test provides one"

    /// Without the interpreter the tests are skipped with a message; if `CI` is set they run and fail.
    static let isWanted: Bool = {
        if python != nil || ProcessInfo.processInfo.environment["CI"] != nil { return true }
        FileHandle.standardError.write(Data("*** SKIPPED: schema against decoder. \(absence) ***\n".utf8))
        return false
    }()

    /// The verdicts on workloads, each of one line.
    static func verdicts(on lines: [String], schema: URL = Fixtures.schema) throws -> [Bool] {
        try Fixtures.withFile(lines.joined(separator: "\n") + "\n") { try run($0, schema) }
    }

    private static func run(_ file: String, _ schema: URL) throws -> [Bool] {
        let process = Process()
        process.executableURL = URL(filePath: try #require(python, "\(absence)"))
        process.arguments = [Fixtures.verdictScript.path, schema.path, file]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n").map { $0 == "valid" }
    }
}
