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
        self.selection = selection
        self.options = options
        plan = try RunPlan(specs: selection.specs, options: options)
        style = isSilent ? .silent : StandardError.isTerminal ? .bar : .lines
    }

    /// - Parameters:
    ///   - summary: kept up to date meanwhile; nil for none.
    ///   - beforeEnd: writes what else belongs to the finished run, before that says that it is.
    func run(
        summary: SummaryFile? = nil, beforeEnd: @escaping @Sendable () throws -> Void = {}
    ) throws -> Ended {
        let (result, signal) = try CancellableWork.run { [selection, options, plan, style] in
            let monitor = RunMonitor(file: summary, style: style)
            for warning in selection.warnings { monitor.warn(warning) }
            let outcome = await Result.catching {
                try await Runner(plan: plan, options: options).run(onEvent: monitor.handle) {
                    try summary?.update()
                    try beforeEnd()
                }
            }
            monitor.finish()
            return outcome
        }
        let outcome = try result.get()
        return Ended(folder: outcome.folder, isCancelled: outcome.isCancelled, signal: signal)
    }

    /// The words and the exit code that a run ends with.
    ///
    /// - Throws: `CommandOutcome` unless everything was measured and nothing failed.
    func conclude(_ ended: Ended, samples: [SampleRow]) throws {
        for warning in DoubtfulSamples(samples).warnings { StandardError.say("opbench: warning: \(warning)") }
        StandardError.say("opbench: the rows are in \(ended.folder)")
        if let signal = ended.signal {
            StandardError.say("opbench: interrupted; to continue: the same with --run-id \(options.runID) --resume")
            throw CommandOutcome(status: ExitStatus.interrupted(by: signal))
        }
        let unexpected = UnexpectedSamples(specs: selection.specs)
        if samples.contains(where: unexpected.contains) { throw CommandOutcome(status: ExitStatus.badSample) }
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
