import Foundation
import TestSupport
import Testing

/// Holds the names of the tests against the contract's lines.
@Suite("The contract's lines")
struct ContractCoverageTests {
    /// Every line of the groups, as "A1" and so on.
    private let lines = contractGroups.flatMap { group in (1...group.lines).map { "\(group.letter)\($0)" } }

    @Test("every line has a test that names it, or a reason why not")
    func everyLine() throws {
        let tested = try linesNamedByTests(under: ".").reduce(into: Set()) { $0.formUnion($1) }
        for line in lines {
            #expect(tested.contains(line) != (untestedLines[line] != nil), "\(line)")
        }
    }

    @Test("every line is tested on Foundation too, or its difference is listed")
    func everyLineOnFoundation() throws {
        let shared = try linesNamedByTests(under: "Conformance/Shared").reduce(into: Set()) { $0.formUnion($1) }
        for line in lines where !shared.contains(line) && untestedLines[line] == nil {
            #expect(foundationDifferences[line] != nil, "\(line)")
        }
    }

    @Test("every row of the error table has a test that names R and the line, and no other line has one")
    func everyError() throws {
        let tests = try linesNamedByTests(under: ".").filter { $0.contains("R") }
        let tested = tests.reduce(into: Set()) { $0.formUnion($1) }
        for (row, line) in errorTable { #expect(tested.contains(line), "\(line): \(row)") }
        #expect(tested.subtracting(["R"]).isSubset(of: errorTable.map(\.line)))
    }

    @Test("the tables name lines that exist")
    func tables() {
        let known = Set(lines)
        #expect(known.isSuperset(of: errorTable.map(\.line)))
        for table in [untestedLines, partlyTestedLines, foundationDifferences] {
            #expect(known.isSuperset(of: table.keys))
        }
    }

    /// The lines before the colon in the name of each test in a folder of this target.
    private func linesNamedByTests(under folder: String) throws -> [Set<String>] {
        let target = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let root = target.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var named: [Set<String>] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let source = try String(contentsOf: file, encoding: .utf8)
            for name in source.matches(of: /@Test\(\s*"([^":]*):/) {
                named.append(Set(name.output.1.split(separator: " ").map(String.init)))
            }
        }
        return named
    }
}
