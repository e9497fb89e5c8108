import ArgumentParser
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
            """)

    @Option(
        help: ArgumentHelp("How long to watch for other processes, at most 600 seconds.", valueName: "seconds")
    )
    var watch: Double = 1

    func validate() throws {
        try NumberArgument.check(
            watch, option: "--watch", in: 0.nextUp...600, "are more than 0 and at most 600 seconds")
    }

    func run() throws { try StandardOutput.write(FindingText.table(Doctor.examine(watchSeconds: watch))) }
}

/// The text of `opbench doctor`.
enum FindingText {
    /// A line for each finding, and one for each remedy.
    ///
    /// - Parameter width: the width of a line; nil for no limit.
    static func table(_ findings: [Finding], width: Int? = TableWidth.ofOutput()) -> String {
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
