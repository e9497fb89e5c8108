import ArgumentParser
import OpBenchModel

/// `opbench validate FILE…`
struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check workload and policy files.",
        discussion: """
            Reports all mistakes in all files, each with its line, its JSON path and the allowed values, and warns \
            about rules under `skip` and `expect` that match nothing. A file with `rules` but without `shape` is a \
            policy. Exits with 64 if a file is wrong, and with 0 if there are only warnings.

            EXAMPLES
              opbench validate workloads/*.json
              opbench validate my-workload.json gate.json
            """)

    @Argument(
        help: ArgumentHelp("Workload or policy files (JSON).", valueName: "file"),
        completion: .json)
    var files: [String]

    func run() throws {
        let mistakes = Mistakes()
        var workloads: [String] = []
        for file in files {
            let text = mistakes.keepFirst { () throws(InputError) in try TextFile.read(file) }
            guard let text else { continue }
            if GatePolicy.isPolicy(text) {
                let policy = mistakes.keep { () throws(InputErrors) in try GatePolicy.decode(text: text, file: file) }
                if let policy { try tell(policy, file) }
            } else {
                workloads.append(file)
                let spec = mistakes.keep { () throws(InputErrors) in try WorkloadSpec.decode(text: text, file: file) }
                if let spec { try tell(spec, file) }
            }
        }
        // Finds mistakes across files: duplicate names, too many cells in total.
        mistakes.keep { () throws(InputErrors) in _ = try WorkloadSpec.load(files: workloads) }
        try mistakes.check()
    }

    private func tell(_ spec: WorkloadSpec, _ file: String) throws {
        for warning in spec.warnings() { StandardError.say("opbench: warning: \(warning)") }
        let cells = spec.cells.count
        try tell(
            "\(file): ok, \(spec.shape.rawValue), \(counted(cells, "cell")) on "
                + spec.backends.map(\.rawValue).joined(separator: ", "))
    }

    private func tell(_ policy: GatePolicy, _ file: String) throws {
        try tell(
            "\(file): ok, policy for \(policy.isOfGoals ? "one run" : "two sides"), "
                + "\(counted(policy.rules.count, "rule"))")
    }

    private func tell(_ line: String) throws { try StandardOutput.write(TerminalText.escaped(line) + "\n") }
}
