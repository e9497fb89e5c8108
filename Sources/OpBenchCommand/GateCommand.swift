import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench gate --baseline RUN --candidate RUN` or `opbench gate --ab RUN`
struct GateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate",
        abstract: "Judge a run by a policy, for an exit code.",
        discussion: """
            A regression needs an interval beyond the margin, a p-value below alpha after Holm's adjustment for all \
            judged figures, and 15 blocks on each side. A pass needs an interval within the margin, strict enough that \
            a figure that is worse by exactly the margin passes with a probability of at most alpha. Anything else is \
            inconclusive, with the reason and the commands that settle it. `opbench run` takes 7 blocks by default: \
            enough for a pass if intervals are narrow, never for a regression; `opbench run --for-gate` takes as many \
            as a verdict needs. Two interleaved builds (`--ab`) give the most precise verdicts.

            A rule with `against` a baseline compares the candidate with that kept run as well, so that many small \
            steps cannot add up unseen.

            A policy whose rules have `at_most` bounds the figures of one run, or of several runs of different cells, \
            by themselves or as ratios to another backend or cell (`against`). A goal is met if its whole 95 % \
            interval is within the bound, and missed if the interval is entirely beyond it and there are 15 blocks \
            (`min_blocks`); otherwise it is inconclusive.

            EXAMPLES
              opbench gate --baseline main
              opbench gate --baseline main --candidate change
              opbench gate --ab two-builds --policy gate.json --markdown summary.md
              opbench gate --baseline main --candidate change --inconclusive pass
              opbench gate --candidate change --policy goals.json
              opbench gate --baseline main --candidate change --policy drift.json

            EXIT CODES
              0    pass
              2    regression, or a goal is missed
              3    a sample of either side, or of a baseline of the policy, is
                   invalid, crashed or timed out unexpectedly
              5    a figure of the baseline or of a goal is missing (see --lenient),
                   a baseline of the policy is, or nothing is judged
              7    inconclusive (see --inconclusive)
              64   bad usage, a bad policy, different hosts, or files that are not runs
            """)

    @Option(help: ArgumentHelp("The run to compare with.", valueName: "run"), completion: .run)
    var baseline: String?

    @Option(
        help: ArgumentHelp(
            "The run to judge, by default the latest; repeat it to judge several runs of different cells by goals.",
            valueName: "run"),
        completion: .run)
    var candidate: [String] = []

    @Option(
        help: ArgumentHelp(
            "A run of two interleaved builds, instead of two runs; by default the latest run if it is one.",
            valueName: "run"),
        completion: .run)
    var ab: String?

    @Option(
        help: ArgumentHelp(
            "Treat inconclusive figures as this verdict: exit code 0 or 2 instead of 7.", valueName: "verdict"))
    var inconclusive: InconclusiveVerdict?

    @Flag(help: "Ignore figures that only one side has, and goals without a figure.")
    var lenient = false

    @OptionGroup var options: ComparisonOptions
    @OptionGroup var report: ReportOptions

    enum InconclusiveVerdict: String, CaseIterable, ExpressibleByArgument { case pass, fail }

    func validate() throws {
        let isOfGoals = ab == nil && baseline == nil
        guard ab == nil || baseline == nil && candidate.isEmpty, baseline == nil || candidate.count <= 1 else {
            throw ValidationError(
                "Give either --baseline and one --candidate, or --ab; or --candidate alone, with a --policy of goals.")
        }
        if isOfGoals, !candidate.isEmpty, options.ignoredParameters != nil {
            throw ValidationError("--ignore-parameters is for two sides; a goal names its cell.")
        }
    }

    func run() throws {
        let files = try report.files()
        let judged = try MeasuredRun.named([ab].compactMap { $0 } + candidate, in: options.results.folder)
        let isOfSides = ab != nil || baseline == nil && candidate.isEmpty && judged[0].hasSides
        let compared: ComparedRuns =
            if let baseline {
                .runs([try MeasuredRun(baseline, in: options.results.folder)] + judged)
            } else {
                isOfSides ? .sides(judged[0]) : .goals(judged)
            }
        if candidate.isEmpty, baseline != nil, compared.runs[0].samples[0].runID == judged[0].samples[0].runID {
            throw InputError(
                file: judged[0].name, message: "the latest run is the baseline",
                remedy: "measure again, or name a --candidate")
        }
        if case .goals = compared, options.ignoredParameters != nil {
            throw InputError(
                file: "--ignore-parameters", message: "a goal names its cell, and there are no two sides",
                remedy: "leave it out, or name a --baseline")
        }
        let policy = try report.loadPolicy(for: compared)
        let anchors = try policy.anchors(in: options.results.folder, file: report.policy)
        var rows = try compared.rows(by: policy, anchors: anchors, ignoring: options.ignoredParameters)
        if policy.isOfGoals {
            let absent = rows.count { $0.verdict == .missing }
            if absent > 0 {
                let goals = counted(absent, "goal has", plural: "goals have")
                StandardError.say("opbench: warning: \(goals) no figure in the judged runs")
            }
            if lenient { rows.removeAll { $0.verdict == .missing } }
        }
        let outcome = GateOutcome(
            policy.asked(among: rows), hasBadSample: (compared.runs + anchors).contains(where: \.hasBadSample),
            isLenient: lenient)
        try report.report(
            rows, policy: policy, compared: compared, anchors: anchors, outcome: outcome, files: files)
        let status =
            switch (outcome, inconclusive) {
            case (.inconclusive, .pass?): ExitStatus.success
            case (.inconclusive, .fail?): ExitStatus.regression
            default: outcome.status
            }
        if status != ExitStatus.success { throw CommandOutcome(status: status) }
    }
}
