import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench list FILE…`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the cells, their backends and an estimate of the time, without running.",
        discussion: """
            Takes the options of `opbench run` that decide what is run.

            EXAMPLES
              opbench list workloads/*.json
              opbench list --quick workloads/*.json
              opbench list --set work_ns=0 --filter queues workloads/*.json
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var plan: PlanOptions

    func run() throws {
        let selection = try selection.load()
        let plan = try RunPlan(specs: selection.specs, options: plan.runOptions(for: selection))
        for warning in selection.warnings { StandardError.say("opbench: warning: \(warning)") }
        let listing = CellListing(omissions: plan.omissions)
        for spec in selection.specs {
            let cells = spec.cells().filter { selection.contains($0.id) }
            try StandardOutput.write(listing.text(of: spec, cells: cells) + "\n")
        }
        let wait = Quantities.wait(seconds: plan.estimate())
        try StandardOutput.write("\(plan.samples.count) samples, about \(wait)\n")
    }
}

/// A workload's cells as `opbench list` prints them.
private struct CellListing {
    private let reasons: [Place: String]

    private struct Place: Hashable {
        let cellID: String
        let backend: BackendID
    }

    /// - Parameter omissions: what the plan leaves out, with the reasons.
    init(omissions: [Omission]) {
        reasons = omissions.reduce(into: [:]) { reasons, omission in
            let place = Place(cellID: omission.cell.id, backend: omission.backend)
            reasons[place] = "\(omission.status.rawValue): \(omission.reason)"
        }
    }

    func text(of spec: WorkloadSpec, cells: [Cell]) -> String {
        var text = TerminalText.escaped("\(spec.name)  \(spec.shape.rawValue), \(spec.file)") + "\n"
        if !spec.summary.isEmpty { text += TerminalText.escaped(spec.summary) + "\n" }
        for cell in cells {
            text += "  \(cell.id)\n"
            let run = spec.backends.filter { reasons[Place(cellID: cell.id, backend: $0)] == nil }
            if !run.isEmpty { text += "    \(run.map(\.rawValue).joined(separator: ", "))\n" }
            for backend in spec.backends {
                guard let reason = reasons[Place(cellID: cell.id, backend: backend)] else { continue }
                text += "    \(backend.rawValue) \(TerminalText.escaped(reason))\n"
            }
        }
        return text
    }
}
