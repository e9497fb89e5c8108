import ArgumentParser
import OpBenchAnalysis
import OpBenchModel

/// `opbench gate --baseline RUN --candidate RUN` or `opbench gate --ab RUN`
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Judge a run by a policy; the exit code says whether something got slower.",
        discussion: """
            A regression needs an interval beyond the margin, a p-value below alpha after Holm's adjustment for all \
            figures judged, and 15 blocks on each side. A pass needs an interval within the margin. What is neither is \
            inconclusive, with the reason and the commands that settle it. `opbench run` takes 7 blocks by default: \
            enough for a pass where the intervals are narrow, never for a regression. Two interleaved builds (`--ab`) \
            give the sharpest verdicts. `ratio` is the middle of the ratios of the blocks, not the quotient of the \
            medians beside it.

            EXAMPLES
              opbench gate --baseline main --candidate results/change
              opbench gate --ab results/two-builds --policy gate.json
              opbench gate --baseline main --candidate change --inconclusive pass
              opbench gate --baseline main --candidate change --markdown summary.md

            EXIT CODES
              0    pass
              2    regression
              3    a sample of either side is invalid, crashed or timed out
                   unexpectedly
              5    a figure of the baseline is missing (see --lenient), or nothing
                   is judged
              7    inconclusive (see --inconclusive)
              64   bad usage, a bad policy, different hosts, or files that are no runs
            """)

    @Option(help: ArgumentHelp("The run to compare with.", valueName: "run"))
    var baseline: String?

    @Option(help: ArgumentHelp("The run that is judged.", valueName: "run"))
    var candidate: String?

    @Option(help: ArgumentHelp("A run of two interleaved builds, instead of two runs.", valueName: "run"))
    var ab: String?

    @Option(
        help: ArgumentHelp("Treat inconclusive figures as this: exit code 0 or 2 instead of 7.", valueName: "verdict"))
    var inconclusive: InconclusiveVerdict?

    @Flag(help: "Ignore figures that only one side has.")
    var lenient = false

    @OptionGroup var options: ComparisonOptions

    enum InconclusiveVerdict: String, CaseIterable, ExpressibleByArgument { case pass, fail }

    func validate() throws {
        guard (ab == nil) != (baseline == nil), (baseline == nil) == (candidate == nil) else {
            throw ValidationError("Give either --baseline and --candidate, or --ab.")
        }
    }

    func run() throws {
        let files = try options.report.files()
        let policy = try options.report.loadPolicy(or: ab == nil ? .standard : .standardForSides)
        let runs = try [baseline, candidate, ab].compactMap { $0 }.map { try RecordedRun($0, in: options.folder) }
        let rows =
            runs.count == 1
            ? try options.compareSides(of: runs[0], policy: policy)
            : try options.compare(runs[0], runs[1], policy: policy)
        let outcome = GateOutcome(
            rows, policy: policy, hasBadSample: runs.contains(where: \.hasBadSample), isLenient: lenient)
        try options.report.report(rows, policy: policy, settling: settling(runs), outcome: outcome, files: files)
        let status = status(of: outcome)
        if status != ExitStatus.success { throw CommandOutcome(status: status) }
    }

    private func settling(_ runs: [RecordedRun]) -> Settling {
        let words =
            options.words + Words.option("--inconclusive", inconclusive?.rawValue) + (lenient ? ["--lenient"] : [])
        return Settling(
            compared: runs.count == 1 ? .sides(runs[0]) : .runs(base: runs[0], head: runs[1]), folder: options.folder,
            comparing: { names in
                let named = names.count == 1 ? ["--ab", names[0]] : ["--baseline", names[0], "--candidate", names[1]]
                return ["gate"] + named + words
            }, policy: options.report.policy)
    }

    private func status(of outcome: GateOutcome) -> Int32 {
        switch outcome {
        case .pass: ExitStatus.success
        case .regression: ExitStatus.regression
        case .badSample: ExitStatus.badSample
        case .missing: ExitStatus.missing
        case .inconclusive:
            switch inconclusive {
            case nil: ExitStatus.inconclusive
            case .pass: ExitStatus.success
            case .fail: ExitStatus.regression
            }
        }
    }
}
