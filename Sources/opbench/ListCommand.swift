import ArgumentParser
import OpBenchModel
import OpBenchRunner
import TextTable

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
        for warning in selection.warnings { StandardError.write("opbench: warning: \(warning)\n") }
        for spec in selection.specs {
            try StandardOutput.write(
                CellListing.text(of: spec, cells: spec.cells().filter { selection.contains($0.id) }) + "\n")
        }
        let wait = Quantities.wait(seconds: plan.estimate())
        try StandardOutput.write("\(plan.samples.count) samples, about \(wait)\n")
    }
}

/// One workload's cells as `opbench list` prints them.
private enum CellListing {
    static func text(of spec: WorkloadSpec, cells: [Cell]) -> String {
        var text = "\(spec.name)  \(spec.shape.rawValue), \(spec.file)\n"
        if !spec.summary.isEmpty { text += "\(spec.summary)\n" }
        for cell in cells {
            text += "  \(cell.id)\n"
            let backends = spec.backends.map { backend in
                spec.skipRule(for: backend, in: cell).map { "\(backend.rawValue) (skipped: \($0.reason))" }
                    ?? backend.rawValue
            }
            text += "    \(backends.joined(separator: ", "))\n"
        }
        return text
    }
}
