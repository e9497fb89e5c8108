import ArgumentParser
import Foundation
import OpBenchRunner

/// How `opbench doctor` prints.
enum FindingFormat: String, ExpressibleByArgument, CaseIterable {
    /// A line for each finding, and one for each thing to do.
    case table
    /// An array of objects.
    case json

    func text(of findings: [Finding]) throws -> String {
        switch self {
        case .table: return Self.table(findings)
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(findings), as: UTF8.self) + "\n"
        }
    }

    private static func table(_ findings: [Finding]) -> String {
        let width = findings.map(\.subject.count).max() ?? 0
        func line(_ mark: String, _ finding: Finding, _ text: String) -> String {
            let padding = String(repeating: " ", count: width - finding.subject.count)
            return "\(mark)  \(finding.subject)\(padding)  \(text)\n"
        }
        var text = findings.map { line($0.weight.mark, $0, $0.found) }.joined()
        let advised = findings.filter { !$0.remedy.isEmpty }
        if !advised.isEmpty { text += "\n" + advised.map { line($0.weight.mark, $0, $0.remedy) }.joined() }
        return text
    }
}

extension Finding.Weight {
    fileprivate var mark: String {
        switch self {
        case .good: "ok  "
        case .note: "note"
        case .bad: "bad "
        }
    }
}
