import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Executes a plan for `run` and `ab`, with progress on standard error, to its end or to a signal.
struct RunExecution {
    private let selection: Selection
    private let plan: RunPlan
    private let style: ProgressDisplay.Style
    /// The --run-id that continues it.
    private let runID: String

    struct Ended: Sendable {
        /// The summary of all saved rows, including those of a finished or resumed run.
        fileprivate(set) var summary: RunSummary
        /// Whether there is work left to measure. If not, the run's files are final.
        let isCancelled: Bool
        /// The signal that ended it early.
        fileprivate(set) var signal: Int32?

        var folder: String { summary.folder }
    }

    /// - Parameters:
    ///   - selection: the selection that the plan was made from.
    ///   - plan: the whole plan, or a part of it.
    ///   - runID: the --run-id that continues the command; nil for the run's own.
    init(_ selection: Selection, _ plan: RunPlan, isSilent: Bool, continuedBy runID: String? = nil) {
        self.selection = selection
        self.plan = plan
        self.runID = runID ?? plan.options.runID
        style = isSilent ? .silent : StandardError.isTerminal ? .bar : .lines
    }

    /// Handles a run's events: progress on standard error, and updates of the summary. Not thread-safe; the runner
    /// sends one event at a time.
    private final class Monitor {
        var display: ProgressDisplay
        var summary: RunSummary
        let writesSummary: Bool

        init(_ display: ProgressDisplay, _ summary: RunSummary, writesSummary: Bool) {
            (self.display, self.summary, self.writesSummary) = (display, summary, writesSummary)
        }

        func handle(_ event: RunEvent) {
            display.handle(event)
            guard case .rowsSaved(let rows) = event else { return }
            summary.add(rows)
            // Rows matter more: a summary that fails now is tried again at the end, which reports the failure.
            if writesSummary { try? summary.updateNowAndThen() }
        }
    }

    /// - Parameters:
    ///   - writesSummary: whether the run's folder has a summary.csv, kept up to date.
    ///   - beforeEnd: writes additional files of a finished run, before the run is marked as finished.
    /// - Throws: errors of `Runner.run`; if something was measured by then, prints how to continue.
    func run(
        writesSummary: Bool = true, beforeEnd: @escaping @Sendable (RunSummary) throws -> Void = { _ in }
    ) throws -> Ended {
        try MachineName.check()
        let folder = plan.options.folder
        let (result, signal) = try CancellableWork.run { [selection, plan, style] in
            let sides = plan.options.builds == nil ? [] : Side.allCases
            let monitor = Monitor(
                ProgressDisplay(style: style), RunSummary(folder: folder, specs: selection.specs, sides: sides),
                writesSummary: writesSummary)
            for warning in selection.warnings + plan.options.limits.warnings() + SampleEnvironment.warnings {
                monitor.display.warn(warning)
            }
            let outcome = await Result.catching {
                try await Runner(plan: plan).run(onEvent: monitor.handle) {
                    if writesSummary { try monitor.summary.update() }
                    try beforeEnd(monitor.summary)
                }
            }
            monitor.display.eraseBar()
            return (outcome, monitor.summary)
        }
        do {
            let outcome = try result.0.get()
            var ended = Ended(summary: result.1, isCancelled: outcome.isCancelled, signal: signal)
            try ended.summary.end(outcome, writesSummary: writesSummary)
            return ended
        } catch {
            let isDescribed = access("\(folder)/\(RunFacts.fileName)", F_OK) == 0
            // An input error means that the run has not begun.
            if !(error is InputError), isDescribed { sayHowToContinue("finished samples are kept") }
            throw error
        }
    }

    func sayHowToContinue(_ what: String) {
        let again =
            plan.options.sweep == nil
            ? "repeat the command with --run-id \(runID) --resume" : "repeat the command on this machine"
        StandardError.say("opbench: \(what); to continue, \(again)")
    }

    /// Writes the run's summary to standard output.
    ///
    /// - Throws: `OutputError`, unless the terminal is gone, because that has already ended the run.
    func show(_ ended: Ended, as presentation: PresentationOptions) throws {
        var summary = ended.summary
        let text = try presentation.text(ofSummary: summary.rows(), facts: RunFacts.read(in: ended.folder))
        do {
            try StandardOutput.write(text)
        } catch {
            if ended.signal != SIGHUP { throw error }
        }
    }

    /// Prints the final messages of a run.
    ///
    /// - Throws: `CommandOutcome` unless everything was measured and nothing failed.
    func conclude(_ ended: Ended) throws {
        let endings = ended.summary.endings
        if let noise = endings.doubtful.sentence { StandardError.say("opbench: warning: \(noise)") }
        if let precision = try RunFacts.read(in: ended.folder).flatMap(RunDescription.precision) {
            StandardError.say("opbench: precision: \(precision)")
        }
        StandardError.say("opbench: the rows are in \(ended.folder)")
        if let signal = ended.signal {
            sayHowToContinue("interrupted")
            throw CommandOutcome(status: ExitStatus.interrupted(by: signal))
        }
        if plan.options.sweep == nil {
            StandardError.say("opbench: HTML report: \(ShellWords.ofThisProgram(["report", ended.folder]))")
        }
        if endings.isAnyBad { throw CommandOutcome(status: ExitStatus.badSample) }
    }
}

extension Result where Failure == any Error {
    /// The result of the work, or its error.
    static func catching(_ work: () async throws -> Success) async -> Self {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}

extension DoubtfulSamples {
    /// A sentence about the noisy samples; nil if there are none.
    var sentence: String? {
        noisy == 0 ? nil : "noisy: \(noisy) of \(counted(total, "sample")), while something else used the machine"
    }
}
