import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Carries out a plan as `run`, `ab` and `calibrate` do: with progress on standard error, to its end or to a signal.
struct RunExecution {
    private let selection: Selection
    private let options: RunOptions
    private let plan: RunPlan
    private let style: ProgressDisplay.Style

    struct Ended: Sendable {
        let folder: String
        /// Whether something is left to be measured. If not, its files are what they shall be.
        let isCancelled: Bool
        /// What ended it early.
        fileprivate(set) var signal: Int32?
    }

    init(selection: Selection, options: RunOptions, isSilent: Bool) throws(InputError) {
        try MachineName.check()
        self.init(
            selection: selection, options: options, plan: try RunPlan(specs: selection.specs, options: options),
            isSilent: isSilent)
    }

    /// - Parameter plan: made of the options.
    init(selection: Selection, options: RunOptions, plan: RunPlan, isSilent: Bool) {
        self.selection = selection
        self.options = options
        self.plan = plan
        style = isSilent ? .silent : StandardError.isTerminal ? .bar : .lines
    }

    /// The summary of the run, beside its rows.
    ///
    /// - Parameter folder: where they are; nil for where they come to be.
    func summaryFile(in folder: String? = nil) -> SummaryFile {
        SummaryFile(
            folder: folder ?? options.folder, specs: selection.specs,
            sides: options.builds == nil ? [] : Side.allCases)
    }

    /// - Parameters:
    ///   - summary: kept up to date meanwhile, and left with what it knows of the run; nil for none.
    ///   - beforeEnd: writes what else belongs to the finished run, before that says that it is.
    /// - Throws: as `Runner.run` does; where something was measured by then, how to continue is said.
    func run(
        summary: inout SummaryFile?, beforeEnd: @escaping @Sendable () throws -> Void = {}
    ) throws -> Ended {
        let (result, signal) = try CancellableWork.run { [selection, options, plan, style, file = summary] in
            let monitor = RunMonitor(file: file, style: style)
            for warning in selection.warnings + options.limits.warnings() + SampleEnvironment.warnings {
                monitor.warn(warning)
            }
            let outcome = await Result.catching {
                try await Runner(plan: plan, options: options).run(onEvent: monitor.handle) {
                    try monitor.updateFile()
                    try beforeEnd()
                }
            }
            monitor.finish()
            return (outcome, monitor.file)
        }
        summary = result.1
        do {
            let outcome = try result.0.get()
            return Ended(folder: outcome.folder, isCancelled: outcome.isCancelled, signal: signal)
        } catch {
            let isDescribed = access("\(options.folder)/run.json", F_OK) == 0
            // An error of the input is of a run that has not begun.
            if !(error is InputError), isDescribed { sayHowToContinue("what was measured is kept") }
            throw error
        }
    }

    private func sayHowToContinue(_ what: String) {
        let again =
            options.part == nil
            ? "the same with --run-id \(options.runID) --resume" : "the same command on this machine"
        StandardError.say("opbench: \(what); to continue: \(again)")
    }

    /// Writes what the run shows for it to standard output.
    ///
    /// - Throws: `OutputError`, but not where the terminal is gone: that has ended the run.
    func show(_ text: String, of ended: Ended) throws(OutputError) {
        do {
            try StandardOutput.write(text)
        } catch {
            if ended.signal != SIGHUP { throw error }
        }
    }

    /// The words and the exit code that a run ends with.
    ///
    /// - Throws: `CommandOutcome` unless everything was measured and nothing failed.
    func conclude(_ ended: Ended, samples: [SampleRow]) throws {
        var endings = SampleEndings(specs: selection.specs)
        for row in samples { endings.count(row) }
        try conclude(ended, endings)
    }

    func conclude(_ ended: Ended, _ endings: SampleEndings) throws {
        for warning in endings.doubtful.warnings { StandardError.say("opbench: warning: \(warning)") }
        StandardError.say("opbench: the rows are in \(ended.folder)")
        if let signal = ended.signal {
            sayHowToContinue("interrupted")
            throw CommandOutcome(status: ExitStatus.interrupted(by: signal))
        }
        if options.part == nil {
            StandardError.say("opbench: as a page: \(ShellWords.ofThisProgram(["report", ended.folder]))")
        }
        if endings.isAnyBad { throw CommandOutcome(status: ExitStatus.badSample) }
    }
}

extension Result where Failure == any Error {
    /// What the work gives or throws.
    static func catching(_ work: () async throws -> Success) async -> Self {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}

extension DoubtfulSamples {
    /// What to tell; empty if there are none.
    var warnings: [String] {
        var warnings: [String] = []
        if noisy > 0 { warnings.append("noisy: \(noisy) of \(total) samples, while something else used the machine") }
        if unsteady > 0 {
            warnings.append("unsteady: \(unsteady) of \(total) samples, whose rounds still grew or shrank at their end")
        }
        return warnings
    }
}
