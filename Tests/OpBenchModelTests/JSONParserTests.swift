import Foundation
import TestSupport
import Testing

@testable import OpBenchModel

@Suite("JSON")
struct JSONParserTests {
    @Test("Members keep their order and their lines")
    func order() throws {
        let root = try JSONParser.parse("{\"b\": 1,\n \"a\": [true, null],\n\"c\": {}}", file: "x.json")
        let members = try root.members("an object")
        #expect(members.map(\.name) == ["b", "a", "c"])
        #expect(members.map(\.line) == [1, 2, 3])
    }

    @Test(
        "Numbers keep their text and know whether they are whole",
        arguments: [
            ("0", 0), ("-0", 0), ("12", 12), ("1e2", 100), ("100.0", 100), ("2.5E+1", 25), ("1.5", nil),
            ("1e400", nil), ("9223372036854775807", Int.max), ("9223372036854775808", nil), ("1e-2", nil),
        ] as [(String, Int?)])
    func numbers(text: String, integer: Int?) throws {
        guard case .number(let number) = try JSONParser.parse(text, file: "x").value.content else {
            Issue.record("no number")
            return
        }
        #expect(number.text == text)
        #expect(number.integer == integer)
    }

    @Test("Escapes, surrogate pairs and raw UTF-8 are equivalent")
    func strings() throws {
        let node = try JSONParser.parse(#""\u00e9é\ud83d\ude00😀\n\t\"\\\/""#, file: "x")
        #expect(try Format.text("a string").read(node) == "éé😀😀\n\t\"\\/")
    }

    private let golden = Golden("json-errors")

    @Test("Errors name line and column")
    func places() {
        let cases = [
            ("{\n  \"a\": tru\n}", 2), ("[1,\n2,\n]", 3), ("{\"é\": x}", 1), ("", 1), ("[1", 1), ("\"a", 1),
            ("{\"a\": 1 \"b\": 2}", 1), ("[1] ]", 1), ("[-]", 1), ("[1.]", 1), ("[1e]", 1), ("[\"\\u12g4\"]", 1),
            ("[\"\\udc00\"]", 1), ("\u{FEFF}{}", 1),
        ]
        var lines: [String] = []
        for (text, line) in cases {
            let error = refusal { _ = try JSONParser.parse(text, file: "x.json") }
            #expect(error.line == line)
            lines.append("\(text.debugDescription.replacing("\u{FEFF}", with: "BOM")): \(error)")
        }
        golden.expect(lines.joined(separator: "\n"), "one mistake")
    }

    @Test("A repeated member is refused with its path, however it is spelt")
    func duplicates() {
        let error = refusal { _ = try JSONParser.parse(#"{"a": [0, {"b c": 1, "b\u0020c": 2}]}"#, file: "x.json") }
        #expect(error.path == #"$.a[1]["b c"]"#)
    }

    @Test("Mistakes on one line each have their column, in linear time", .onOwnThreads)
    func manyMistakes() {
        func errors(_ text: String) -> [InputError] {
            let mistakes = Mistakes()
            _ = try? JSONParser.read(text, file: "x.json", mistakes)
            return mistakes.gathered?.errors ?? []
        }
        // When columns were counted from the line's start each time, the second text took a quarter of an hour.
        let long = "[" + String(repeating: "1 ", count: 500_000) + "1]"
        let found = errors("[\n1 \"é\" 3,\n\n  4 5]") + errors(long).prefix(3)
        #expect(found.map(\.line) == [2, 2, 4, 1, 1, 1])
        golden.expect(found.map(\.description).joined(separator: "\n"), "several mistakes on a line")
    }

    @Test("A path has the beginning of a long name")
    func longNames() {
        let name = String(repeating: "é", count: 10_000)
        let plain = String(repeating: "n", count: 10_000)
        let error = refusal {
            _ = try JSONParser.parse("{\"\(name)\": {\"\(plain)\": {\"b\": 1, \"b\": 1}}}", file: "x.json")
        }
        #expect(error.path == "$[\"\(name.prefix(60))…\"][\"\(plain.prefix(60))…\"].b")
    }

    @Test("Nesting is bounded, so that no input exhausts the stack")
    func depth() throws {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        _ = try JSONParser.parse(deepest, file: "x")
        #expect(refusal { _ = try JSONParser.parse("[" + deepest + "]", file: "x") }.message.contains("64"))
        _ = refusal { _ = try JSONParser.parse(String(repeating: "[{\"a\":", count: 100_000), file: "x") }
    }

    @Test("Written values read back the same")
    func roundTrip() throws {
        let text = try Fixtures.text(Fixtures.schema)
        #expect(JSONText.write(try JSONParser.parse(text, file: "x").value) == text)
        let odd = JSONValue.string("\u{1}\u{1F}\"\\\n\r\té😀")
        let read = try Format.text("a string").read(try JSONParser.parse(JSONText.write(odd), file: "x"))
        #expect(read == "\u{1}\u{1F}\"\\\n\r\té😀")
    }
}

@Suite("The nearest known name")
struct SuggestionTests {
    @Test(
        "Few edits are a typo, many are another word",
        arguments: [
            ("disptch", "dispatch"), ("Engine", "engine"), ("fundation", "foundation"), ("xyz", nil), ("", nil),
            (String(repeating: "engine", count: 10_000), nil),
        ] as [(String, String?)])
    func nearest(name: String, expected: String?) {
        #expect(Suggestion.nearest(to: name, among: ["engine", "dispatch", "foundation"]) == expected)
    }

    @Test("Without known names nothing is suggested")
    func none() { #expect(Suggestion.nearest(to: "a", among: []) == nil) }

    @Test("An error has at most six names, the nearest first")
    func six() {
        let names = (1...7).map { "name\($0)" }
        let first = names.prefix(6).joined(separator: ", ")
        #expect(Suggestion.list(Array(names.prefix(6)), from: "all") == first)
        #expect(Suggestion.list(names, from: "all") == "\(first) and 1 more: all")
        #expect(Suggestion.remedy(for: "x", among: names).hasSuffix("\(first) and 1 more"))
        let nearest = (["name7"] + names.prefix(5)).joined(separator: ", ")
        #expect(Suggestion.remedy(for: "nam7", among: names).contains("\(nearest) and 1 more"))
    }
}

/// Reproducible random numbers.
struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
