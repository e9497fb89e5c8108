import ArgumentParser
import Foundation
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench bisect GOOD..BAD FILE…`
struct BisectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect",
        abstract: "Find the commit that made a figure worse.",
        usage: "opbench bisect <good>..<bad> <file> ... [<options>]",
        discussion: """
            Measures the bad commit against the good one, interleaved, as `opbench ab` does, and takes the regression \
            that is furthest from chance. Then searches the commits between by halves: each step measures one against \
            the good commit, in that cell alone. A commit is bad if its interval shows more than half of the change, \
            good if it shows less; while it shows neither, it gets more blocks, up to 40. If it is still open then, the \
            estimate decides, and the step is marked uncertain. At the end, the commit that was found is measured \
            against its parent: only a difference there confirms it, and corrects an uncertain step otherwise.

            A merge counts as one commit. A commit that does not build, or whose program takes no samples, is skipped. \
            Every step is a run of its own, and programs stay in .build/refs: --resume continues an interrupted search.

            EXAMPLES
              opbench bisect v1.2..main workloads/*.json
              opbench bisect v1.2..HEAD --cell work_ns=0 --backend engine w.json
              opbench bisect v1.2..main --figure cpu_time --threshold 0.01 w.json
              opbench bisect v1.2..main --run-id slow --no-explain w.json
              opbench bisect v1.2..main --run-id slow --resume w.json

            EXIT CODES
              0    found one commit, and confirmed it; or nothing regressed
              1    a program cannot be built, for another reason than a commit
              3    nothing regressed, but a sample is invalid, crashed or timed out
              5    the good commit has no such program or figure
              7    not decided: whether something regressed, or which one of the
                   printed commits is at fault
              64   bad usage, or good is not an ancestor along first parents
            """)

    @Argument(
        help: ArgumentHelp(
            "A commit before the change and one with it, separated by `..`; without the second, HEAD.",
            valueName: "good..bad"))
    var range: String

    @OptionGroup(title: OptionTitle.workloads) var selection: SelectionOptions
    @OptionGroup(title: "Builds") var build: BuildOptions
    @OptionGroup(title: OptionTitle.samples) var plan: PlanOptions
    @OptionGroup(title: OptionTitle.samples) var layout: LayoutOptions

    @Option(
        help: ArgumentHelp(
            "A policy file (JSON), which says what is a regression; by default as for `opbench ab`.", valueName: "file"),
        completion: .json)
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Search the cause of this metric's regression; without --policy, any metric.", valueName: "metric"),
        completion: .metrics)
    var figure: String?

    @Option(
        help: ArgumentHelp(
            "The worsening that counts as a regression, instead of the policy's: 0.01 is 1 %.", valueName: "part"))
    var threshold: Double?

    @Flag(name: .customLong("no-explain"), help: "Do not profile the commit that was found; see `opbench explain`.")
    var omitsExplanation = false

    @Option(
        help: ArgumentHelp("Write the result to this file, as Markdown.", valueName: "file"), completion: .file())
    var markdown: String?

    @OptionGroup(title: OptionTitle.results) var destination: DestinationOptions
    @OptionGroup(title: OptionTitle.results) var progress: ProgressOptions
    @OptionGroup(title: OptionTitle.limits) var limits: LimitOptions

    /// The names of both commits; nil if the text is not a range.
    private var ends: (good: String, bad: String)? {
        guard let dots = range.firstRange(of: "..") else { return nil }
        let (good, bad) = (String(range[..<dots.lowerBound]), String(range[dots.upperBound...]))
        guard !good.isEmpty, !bad.hasPrefix("."), !bad.contains("..") else { return nil }
        return (good, bad.isEmpty ? "HEAD" : bad)
    }

    func validate() throws {
        try selection.cells.requireFiles()
        if ends == nil {
            throw ValidationError("\"\(range)\" is no range of commits: write GOOD..BAD, such as v1.2..main.")
        }
        try layout.check(plan)
        if plan.quick { throw ValidationError("--quick proves nothing: leave it out.") }
        if let blocks = plan.blocks, blocks < FigureRule.standardMinBlocks {
            throw ValidationError(
                "--blocks is \(blocks), but a regression needs \(FigureRule.standardMinBlocks): give more, or leave it out."
            )
        }
        try NumberArgument.check(threshold, option: "--threshold", in: 0...10, "is a part from 0 to 10")
    }

    /// The policy without a file: that of `ab` or the one metric, for the own backends or those that the user names.
    private func standardPolicy() -> GatePolicy {
        var policy = GatePolicy.standardForSides
        if let figure {
            var selector = GatePolicy.Selector()
            (selector.metric, selector.backend) = (figure, GatePolicy.Selector.own)
            policy = GatePolicy(rules: [.init(selector, FigureRule(maxRegression: Self.standardThreshold))])
        }
        if selection.cells.backends != nil {
            for index in policy.rules.indices { policy.rules[index].selector.backend = "*" }
        }
        return policy
    }

    private static let standardThreshold = 0.02

    private func checkFigure() throws(InputError) {
        let known = BaselineRatio.names + Metric.catalogue.filter { $0.direction != .neutral }.map(\.name)
        guard let figure, !known.contains(figure) else { return }
        throw InputError(
            file: "--figure", message: "there is no metric \"\(figure)\" that can get worse",
            remedy: Suggestion.remedy(for: figure, among: known, from: "opbench describe"))
    }

    func run() throws {
        let runID = try destination.identifier()
        try RunIdentifier.check(runID: BisectRun.longestRunID(runID))
        let file = try markdown.map { (path) throws(InputError) in try ReportFile(path) }
        try checkFigure()
        var (selection, policy) = try selection.loadJudged(by: policy, or: standardPolicy())
        // A bound on drift is about a baseline, not about the commits of the range.
        policy.rules.removeAll { $0.against != nil }
        if let threshold {
            for index in policy.rules.indices { policy.rules[index].figure.maxRegression = threshold }
        }
        try layout.check(policy, file: self.policy)
        let options = try plan.runOptions(of: selection, in: destination, as: runID, limits)
        let interleaved = try InterleavedPlan(selection, policy: policy, options: options, layouts: layout.layouts)
        let history = try CommitHistory.ofPackageHere(ends!.good, ends!.bad, range: range)
        var run = BisectRun(
            history, build, options: options, layouts: layout.layouts ?? 0,
            warnings: selection.warnings, isSilent: progress.isHidden)
        let whole = try run.measureEnds(interleaved)
        let rows = whole.rows.filter { policy.rule(for: $0) != nil && (figure == nil || $0.metric == figure) }
        guard let change = SearchedChange(in: rows) else { return try reportUnchanged(whole, rows) }
        selection = try selection.narrowed(toCell: change.row.cellID, judgedBy: change.policy)
        let steps = try InterleavedPlan(
            selection, policy: change.policy, options: options, layouts: layout.layouts, takesAllStages: true)
        let found = try run.search(change, between: whole, steps)
        let report = BisectReport(found, change, steps: run.steps, history)
        try StandardOutput.write(report.text(width: TableWidth.ofOutput()))
        if let file { try ReportFile.write([(file, report.markdown)]) }
        try explain(found, change)
        if !found.isOneCommit { throw CommandOutcome(status: ExitStatus.inconclusive) }
    }

    /// Prints the comparison of both ends, in which nothing regressed.
    private func reportUnchanged(
        _ measured: JudgedRun, _ rows: [CompareRow]
    ) throws {
        let shown = ComparisonReport(rows: rows, outcome: nil, compared: .sides(measured.run))
        try StandardOutput.write(ComparisonTable.text(of: shown))
        StandardError.say("opbench: no figure regressed between these commits; there is nothing to search")
        let outcome = GateOutcome(rows, hasBadSample: measured.run.hasBadSample, isLenient: false)
        // A missed goal is no change between the commits.
        if outcome != .missed, outcome.status != ExitStatus.success { throw CommandOutcome(status: outcome.status) }
    }

    /// Explains the difference between the commits that the last step compared. The result stands without it.
    private func explain(_ found: BisectRun.Found, _ change: SearchedChange) throws {
        guard found.isConfirmed else { return }
        let folder = found.folder
        let output = "\(folder)/explanation"
        // An interrupted one has no text.
        let files = (try? FileManager.default.contentsOfDirectory(atPath: output)) ?? []
        if files.contains(where: { $0.hasSuffix(ExplanationFolder.textSuffix) }) {
            return StandardError.say("opbench: the explanation is in \(output)")
        }
        let words =
            [
                "--filter", "^\\Q\(change.row.cellID)\\E$", "--backend", change.row.backend.rawValue, "--output",
                output, folder,
            ]
        let command = ShellWords.ofThisProgram(["explain"] + words)
        if omitsExplanation { return StandardError.say("opbench: to explain the difference: \(command)") }
        do {
            var explain = try ExplainCommand.parse(words)
            explain.progress = progress
            try StandardOutput.write("\n")
            try explain.run()
        } catch let outcome as CommandOutcome where outcome.status != ExitStatus.badSample {
            throw outcome
        } catch {
            StandardError.say("opbench: warning: the difference is not explained: \(error)")
            StandardError.say("opbench: to try again: \(command)")
        }
    }
}
