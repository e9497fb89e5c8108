import ArgumentParser
import OpBenchModel

/// `opbench validate FILE…`
struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check workload files without running anything.",
        discussion: """
            Reports every file's first mistake with its JSON path and what is allowed, and warns of rules under `skip` \
            and `expect` that match nothing. Exits 64 if a file is wrong, 0 if there are warnings only.

            EXAMPLES
              opbench validate workloads/*.json
              opbench validate my-workload.json
            """)

    @Argument(
        help: ArgumentHelp("Workload files (JSON).", valueName: "file"), completion: .file(extensions: ["json"]))
    var files: [String]

    func run() throws {
        var errors: [InputError] = []
        for file in files {
            do {
                try check(file)
            } catch let error as InputError {
                errors.append(error)
            }
        }
        if !errors.isEmpty { throw InputErrors(errors: errors) }
        // What no single file shows: names given twice, too many cells together.
        _ = try WorkloadSpec.load(files: files)
    }

    private func check(_ file: String) throws {
        let spec = try WorkloadSpec.load(file: file)
        for warning in spec.warnings() { StandardError.say("opbench: warning: \(warning)") }
        let cells = spec.cells().count
        try StandardOutput.write(
            TerminalText.escaped(
                "\(file): ok, \(spec.shape.rawValue), \(cells) \(cells == 1 ? "cell" : "cells") on "
                    + spec.backends.map(\.rawValue).joined(separator: ", ")) + "\n")
    }
}
