import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench run FILE…`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Measure workloads and write the rows.",
        discussion: """
            Everything is checked before anything is run or written. The rows are saved after every sample, so that a \
            run that was ended can go on with --resume. At the end the summary is printed.

            EXAMPLES
              opbench run workloads/*.json
              opbench run --quick --backend engine,dispatch workloads/*.json
              opbench run --set work_ns=0,1000 --blocks 3 workloads/*.json
              opbench run --filter submission=refill workloads/tiny-vs-batched.json
              opbench run --metric latency --format csv workloads/priority-mix.json
              opbench run --run-id nightly --resume workloads/*.json
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var plan: PlanOptions
    @OptionGroup var destination: DestinationOptions

    @Option(help: ArgumentHelp("How the summary is printed.", valueName: "format"))
    var format = SummaryFormat.table

    @Flag(name: .customLong("no-progress"), help: "Tell nothing of the progress; warnings and errors remain.")
    var hidesProgress = false

    func run() throws {
        let runID = try destination.identifier()
        let selection = try selection.load()
        let options = plan.runOptions(
            for: selection, directory: destination.directory, runID: runID, resume: destination.resume)
        let measured = try measure(try RunPlan(specs: selection.specs, options: options), options, selection)
        try StandardOutput.write(format.text(of: measured.rows.summary))
        for warning in DoubtfulSamples(measured.rows.samples).warnings {
            StandardError.write("opbench: warning: \(warning)\n")
        }
        StandardError.write("opbench: the rows are in \(measured.folder)\n")
        if measured.signal != nil {
            StandardError.write("opbench: ended early; the same command with --run-id \(runID) --resume goes on\n")
        }
        if let signal = measured.signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        let unexpected = UnexpectedSamples(specs: selection.specs)
        if measured.rows.samples.contains(where: unexpected.contains) {
            throw CommandOutcome(status: ExitStatus.badSample)
        }
    }

    private struct Measured: Sendable {
        var rows: RunRows
        var folder: String
        var signal: Int32?
    }

    /// Runs the plan to its end or to a signal, and reads back what was saved.
    private func measure(_ plan: RunPlan, _ options: RunOptions, _ selection: Selection) throws -> Measured {
        let style: ProgressDisplay.Style = hidesProgress ? .silent : StandardError.isTerminal ? .bar : .lines
        let folder = "\(options.directory)/\(options.runID)"
        let (result, signal) = CancellableWork.run { () async -> Result<Measured, any Error> in
            let monitor = RunMonitor(
                file: SummaryFile(folder: folder, order: SummaryOrder(specs: selection.specs)), style: style)
            for warning in selection.warnings { monitor.warn(warning) }
            do {
                let outcome = try await Runner(plan: plan, options: options).run { monitor.handle($0) }
                return .success(Measured(rows: try monitor.finish(), folder: outcome.folder))
            } catch {
                monitor.abandon()
                return .failure(error)
            }
        }
        var measured = try result.get()
        measured.signal = signal
        return measured
    }
}
