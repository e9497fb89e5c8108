import Foundation
import Testing

@testable import OpBenchModel

@Suite("The facts around the code")
struct SurroundingsTests {
    private static let before: Surroundings = {
        var facts = Surroundings([.compiler: "Swift A", .kernel: "Linux 1", .governor: nil, .quota: "none"])
        for (name, value) in [("a", "Vulnerable"), ("b", "Not affected"), ("c", "1"), ("d", "2"), ("e", "3")] {
            facts[.mitigations, name] = value
        }
        return facts
    }()

    private func decode(_ text: String) throws -> Surroundings {
        try JSONDecoder().decode(Surroundings.self, from: Data(text.utf8))
    }

    @Test("Facts read back as written; unknown ones are left out, and absent ones stay absent")
    func roundTrip() throws {
        let data = try JSONEncoder().encode(Self.before)
        #expect(try JSONDecoder().decode(Surroundings.self, from: data) == Self.before)
        let read = try decode(#"{"kernel": "Linux", "weather": "rain", "mitigations": {"meltdown": "PTI"}}"#)
        var expected = Surroundings([.kernel: "Linux"])
        expected[.mitigations, "meltdown"] = "PTI"
        #expect(read == expected)
        #expect(read.text(of: .governor) == nil && Self.before.text(of: .governor) == nil)
        #expect(Surroundings([.turbo: nil]).isEmpty)
    }

    @Test("Only what both sides know can differ")
    func changes() {
        var after = Self.before
        after[.compiler] = "Swift B"
        after[.kernel] = nil
        after[.turbo] = "on"
        after[.mitigations, "new"] = "Vulnerable"
        #expect(Self.before.changes(to: after).lines == ["compiler: Swift A → Swift B"])
        #expect(Self.before.changes(to: Self.before).isEmpty && Surroundings().changes(to: after).isEmpty)
        for name in ["a", "b", "c", "d", "e"] { after[.mitigations, name] = "off" }
        let changes = Self.before.changes(to: after)
        #expect(changes.titles == ["compiler", "mitigations"] && changes.count == 6)
        #expect(
            changes.lines.last
                == "mitigations: a: Vulnerable → off, b: Not affected → off, c: 1 → off, and 2 more")
        var known = Self.before
        known.update(by: after)
        #expect(known[.kernel] == "Linux 1" && known[.compiler] == "Swift B")
    }

    @Test("Two builds on one host differ in facts of the build only")
    func builds() {
        let other = Self.before.replacingBuild(by: Surroundings([.compiler: "Swift C", .kernel: "Linux 2"]))
        #expect(Self.before.changes(to: other).lines == ["compiler: Swift A → Swift C"])
        let owners = Dictionary(grouping: SurroundingFact.allCases, by: \.owner)
        #expect(owners[.build] == [.compiler, .oneTBB, .libraries])
    }

    @Test("Machines that differ are named together")
    func joined() {
        let all = ["Linux 1", "Linux 2", "Linux 1"].map { Surroundings([.kernel: $0, .quota: "none"]) }
        let joined = Surroundings.joined(all + [Surroundings()])
        #expect(joined == Surroundings([.kernel: "Linux 1 + Linux 2", .quota: "none"]))
        #expect(Surroundings.joined([]).isEmpty)
    }

    @Test("Control characters are dropped, long values cut, and more than a system reports is refused")
    func limits() throws {
        #expect(Surroundings([.kernel: "a\u{1B}[2J\nb"])[.kernel] == "a[2Jb")
        let long = try #require(Surroundings([.kernel: String(repeating: "é", count: 1000)])[.kernel])
        #expect(long.utf8.count <= Surroundings.valueLimit && long.hasSuffix("é…"))
        #expect(Surroundings([.kernel: long])[.kernel] == long)
        let parts = (0...Surroundings.partLimit).map { "\"v\($0)\": \"x\"" }.joined(separator: ", ")
        #expect(throws: DecodingError.self) { try decode("{\"mitigations\": {\(parts)}}") }
        let name = String(repeating: "n", count: Surroundings.sizeLimit)
        #expect(throws: DecodingError.self) { try decode("{\"mitigations\": {\"\(name)\": \"x\"}}") }
        for text in [#"{"kernel": 1}"#, #"{"kernel": ["a"]}"#, "[]", #"{"mitigations": {"a": 1}}"#] {
            #expect(throws: DecodingError.self) { try decode(text) }
        }
    }

    @Test("Every fact has a title and a source, and its key is a plain word")
    func catalogue() {
        for fact in SurroundingFact.allCases {
            #expect(!fact.title.isEmpty && fact.meaning.hasSuffix("."))
            #expect(fact.rawValue.allSatisfy { $0.isLowercase || $0 == "_" })
        }
        #expect(Set(SurroundingFact.allCases.map(\.title)).count == SurroundingFact.allCases.count)
    }
}
