import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench list FILE…`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print cells, backends and the estimated time.",
        usage: "opbench list <file> ... [<options>]",
        discussion: """
            Takes the options of `opbench run` that select what runs. The time limits are those of single samples.

            EXAMPLES
              opbench list workloads/*.json
              opbench list --quick workloads/*.json
              opbench list --for-gate workloads/*.json
              opbench list --set work_ns=0 --filter queues workloads/*.json
            """)

    @OptionGroup(title: OptionTitle.workloads) var selection: SelectionOptions
    @OptionGroup(title: OptionTitle.samples) var plan: PlanOptions
    @OptionGroup(title: OptionTitle.samples) var gate: GateRunOptions

    func validate() throws {
        try selection.cells.requireFiles()
        try gate.check(selection, plan)
    }

    @Flag(name: .customLong("wide"), help: "Do not break lines.")
    var isWide = false

    func run() throws {
        let (selection, blocks) = try gate.load(selection, plan)
        var options = plan.runOptions()
        options.take(blocks)
        let plan = try RunPlan(specs: selection.specs, options: options)
        for warning in selection.warnings { StandardError.say("opbench: warning: \(warning)") }
        let width = isWide ? nil : TableWidth.ofOutput()
        let listing = CellListing(plan)
        for spec in selection.specs {
            try StandardOutput.write(listing.text(of: spec, width: width) + "\n")
        }
        let wait = Quantities.wait(seconds: plan.estimate())
        let samples = counted(plan.samples.count, "sample")
        try StandardOutput.write("\(samples), about \(wait)\n")
    }
}

/// The text that `opbench list` prints for a workload's cells.
private struct CellListing {
    /// Why a backend does not run in a cell, by cell.
    private let reasons: [String: [BackendID: String]]
    /// By cell, the greatest time limit of a sample, in seconds, unless the user gives one for all.
    private let timeLimits: [String: Double]

    init(_ plan: RunPlan) {
        reasons = plan.omissions.reduce(into: [:]) { reasons, omission in
            reasons[omission.cell.id, default: [:]][omission.backend] =
                "\(omission.status.rawValue): \(omission.reason)"
        }
        let timed = plan.options.timeoutSeconds == nil ? plan.samples : []
        timeLimits = Dictionary(
            timed.map { ($0.cell.id, plan.options.timeLimit(of: $0.cell, on: $0.backend, $0.flavour)) },
            uniquingKeysWith: max)
    }

    /// - Parameter width: the width of the lines; nil for no limit.
    func text(of spec: WorkloadSpec, width: Int?) -> String {
        func line(_ indentation: Int, _ words: String) -> String {
            WrappedText.paragraph(
                TerminalText.escaped(words), width: width, first: String(repeating: " ", count: indentation),
                hanging: indentation + 4)
        }
        var text = line(0, "\(spec.name)  \(spec.shape.rawValue), \(spec.file)")
        if !spec.summary.isEmpty { text += line(0, spec.summary) }
        for cell in spec.cells {
            // Whole: the beginnings of two broken ids can be equal.
            text += TerminalText.escaped("  \(cell.id)") + "\n"
            let reasons = reasons[cell.id] ?? [:]
            let run = spec.backends.filter { reasons[$0] == nil }
            if !run.isEmpty { text += line(4, run.map(\.rawValue).joined(separator: ", ")) }
            for backend in spec.backends {
                if let reason = reasons[backend] { text += line(4, "\(backend.rawValue) \(reason)") }
            }
            if let limit = timeLimits[cell.id], limit > TimeLimitOfSample.least {
                text += line(4, "time limit of a sample: \(Quantities.wait(seconds: limit))")
            }
        }
        return text
    }
}
