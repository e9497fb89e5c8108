import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A run that has ended, with what was computed from its rows: the same values are in its files and on the screen.
struct JudgedRun: Sendable {
    let run: MeasuredRun
    /// The contents of summary.csv.
    let summary: [SummaryRow]
    /// The contents of compare.csv; empty if nothing judges the run.
    let rows: [CompareRow]
    /// The signal that ended it early.
    var signal: Int32?
}

/// Executes a plan for `run`, `ab` and `bisect`, with progress on standard error, to its end or to a signal.
struct RunExecution {
    private let plan: RunPlan
    private let programs: SamplePrograms?
    private let judge: Judge?
    private let warnings: [String]
    private let style: ProgressDisplay.Style
    /// The --run-id that continues it.
    private let runID: String

    /// Judges all rows of a run.
    typealias Judge = @Sendable (_ samples: [SampleRow]) throws -> [CompareRow]

    /// - Parameters:
    ///   - plan: the whole plan, or a part of it.
    ///   - programs: nil for this program.
    ///   - judge: makes compare.csv; nil for a run without it.
    ///   - warnings: those of the selection that the plan was made from.
    ///   - runID: the --run-id that continues the command; nil for the run's own.
    init(
        _ plan: RunPlan, by programs: SamplePrograms? = nil, judge: Judge? = nil, warnings: [String], isSilent: Bool,
        continuedBy runID: String? = nil
    ) {
        (self.plan, self.programs, self.judge, self.warnings) = (plan, programs, judge, warnings)
        self.runID = runID ?? plan.options.runID
        style = isSilent ? .silent : StandardError.isTerminal ? .bar : .lines
    }

    /// Handles a run's events, and makes the files beside its rows. Not thread-safe; the runner sends one event at a
    /// time.
    private final class Monitor {
        var display: ProgressDisplay
        private var summary: RunSummary
        private let folder: String
        private let judge: Judge?
        private var judged: (summary: [SummaryRow], rows: [CompareRow])?

        init(_ plan: RunPlan, _ judge: Judge?, _ style: ProgressDisplay.Style) {
            display = ProgressDisplay(style: style)
            summary = RunSummary(specs: plan.specs, sides: plan.options.hasSides ? Side.allCases : [])
            (folder, self.judge) = (plan.options.folder, judge)
        }

        func handle(_ event: RunEvent) {
            display.handle(event)
            guard case .rowsSaved(let samples) = event else { return }
            // Rows matter more: a summary that fails now is tried again at the end, which reports the failure.
            try? summary.updateNowAndThen(samples, in: folder)
        }

        /// Judges all rows, once, and writes the files.
        ///
        /// - Parameter isWritten: whether a file, by its name, is final already.
        func end(_ samples: [SampleRow], in folder: String, isWritten: (String) -> Bool = { _ in false }) throws {
            let rows = try judged ?? (summary.rows(of: samples, in: folder), judge?(samples) ?? [])
            judged = rows
            var files = [(SummaryRow.fileName, CSVFile.text(of: rows.summary))]
            if judge != nil { files.append((CompareRow.fileName, CSVFile.text(of: rows.rows))) }
            for (name, text) in files where !isWritten(name) { try WrittenFolder(folder).replace(name, by: text) }
        }

        /// The run after its end. A finished run's files are final; those of a run that ended early are updated, and a
        /// missing one is made.
        func judged(_ run: MeasuredRun) throws -> JudgedRun {
            let isFinal = run.facts?.isFinished == true
            try end(run.samples, in: run.folder) { isFinal && access("\(run.folder)/\($0)", F_OK) == 0 }
            return JudgedRun(run: run, summary: judged?.summary ?? [], rows: judged?.rows ?? [])
        }
    }

    /// Measures to the end or to a signal.
    ///
    /// - Throws: errors of `PlanRunner.run` and of judging; if something was measured by then, prints how to continue.
    func run() throws -> JudgedRun {
        let folder = plan.options.folder
        let (result, signal) = try CancellableWork.run {
            let monitor = Monitor(plan, judge, style)
            for warning in warnings + plan.options.limits.warnings() + SampleEnvironment.warnings {
                monitor.display.warn(warning)
            }
            let result = await Result.catching {
                try monitor.judged(
                    try await PlanRunner(plan: plan, by: programs).run(onEvent: monitor.handle) { samples in
                        try monitor.end(samples, in: folder)
                    })
            }
            monitor.display.eraseBar()
            return result
        }
        do {
            var ended = try result.get()
            ended.signal = signal
            return ended
        } catch {
            let isDescribed = access("\(folder)/\(RunFacts.fileName)", F_OK) == 0
            // An input error means that the run has not begun.
            if !(error is InputError), isDescribed { sayHowToContinue("finished samples are kept") }
            throw error
        }
    }

    /// Measures, and prints the summary.
    ///
    /// - Throws: as `run` and `conclude`; `OutputError`, unless the terminal is gone, because that has already ended the
    ///   run.
    func run(shownAs presentation: PresentationOptions) throws {
        let ended = try run()
        do {
            try StandardOutput.write(presentation.text(ofSummary: ended.summary, facts: ended.run.facts))
        } catch {
            if ended.signal != SIGHUP { throw error }
        }
        try conclude(ended)
    }

    private func sayHowToContinue(_ what: String) {
        let again =
            plan.shard == nil
            ? ": \(ShellWords.continuing(plan.options.arguments, as: runID))" : ", repeat the command on this machine"
        StandardError.say("opbench: \(what); to continue\(again)")
    }

    /// Prints the final messages of a run.
    ///
    /// - Throws: `CommandOutcome` unless everything was measured and nothing failed.
    func conclude(_ ended: JudgedRun) throws {
        let run = ended.run
        if let precision = run.facts.flatMap(RunDescription.precision) {
            StandardError.say("opbench: precision: \(precision)")
        }
        StandardError.say("opbench: the rows are in \(run.folder)")
        if let signal = ended.signal {
            sayHowToContinue("interrupted")
            throw CommandOutcome(status: ExitStatus.interrupted(by: signal))
        }
        if plan.shard == nil {
            StandardError.say("opbench: HTML report: \(ShellWords.ofThisProgram(["report", run.folder]))")
        }
        if run.hasBadSample { throw CommandOutcome(status: ExitStatus.badSample) }
    }
}

extension Result where Failure == any Error {
    /// The result of the work, or its error.
    static func catching(_ work: () async throws -> Success) async -> Self {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}
