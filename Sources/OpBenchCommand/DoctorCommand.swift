import ArgumentParser
import Foundation
import OpBenchRunner

/// `opbench doctor`
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine what disturbs figures on this machine.",
        discussion: """
            Examines processors, quotas, clock rates, the hypervisor, other processes, clocks and timers, memory, the \
            allocator and permissions. Changes nothing, and exits with 0 whatever it finds.

            EXAMPLES
              opbench doctor
              opbench doctor --watch 10
              opbench doctor --format json
            """)

    @Option(
        help: ArgumentHelp("How long to watch for other processes, at most 600 seconds.", valueName: "seconds")
    )
    var watch: Double = 1

    @Option(help: ArgumentHelp("How to print the findings.", valueName: "format"))
    var format = FindingFormat.table

    func validate() throws {
        guard watch > 0, watch <= 600 else {
            throw ValidationError("--watch is \(watch); allowed are more than 0 and at most 600 seconds.")
        }
    }

    func run() throws { try StandardOutput.write(format.text(of: Doctor.examine(watchSeconds: watch))) }
}

/// The output format of `opbench doctor`.
enum FindingFormat: String, ExpressibleByArgument, CaseIterable {
    /// A line for each finding, and one for each remedy.
    case table
    /// An array of objects.
    case json

    /// - Parameter width: the width of a table's lines; nil for no limit.
    func text(of findings: [Finding], width: Int? = TableWidth.ofOutput()) throws -> String {
        switch self {
        case .table: return Self.table(findings, width)
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(findings), as: UTF8.self) + "\n"
        }
    }

    private static func table(_ findings: [Finding], _ width: Int?) -> String {
        let subjects = findings.map { TextWidth.of($0.subject) }.max() ?? 0
        func line(_ mark: String, _ finding: Finding, _ text: String) -> String {
            let opening = "\(mark)  \(WrappedText.padded(finding.subject, to: subjects))  "
            return WrappedText.paragraph(text, width: width, first: opening, hanging: opening.count)
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
