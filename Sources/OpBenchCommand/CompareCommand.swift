import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench compare BASE NEW`
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Compare two recorded runs, figure by figure.",
        usage: "opbench compare <base> <new> [<options>]",
        discussion: """
            A run is a folder, a samples.csv, or the id of a run under results/ or results/baseline/. Runs taken at \
            different times drift apart by 20 % and more, so judge by the ratio to Dispatch within each block: \
            absolute times stay inconclusive. `opbench ab` measures two builds side by side, and judges their times. \
            Inconclusive figures come with a reason and a remedy. Exits with 0 whatever the verdicts; `opbench gate` \
            turns them into an exit code.

            EXAMPLES
              opbench compare before after
              opbench compare --all --csv compare.csv before after
              opbench compare --policy gate.json results/before results/after
              opbench compare --format markdown main 20261121T130501Z-3fa9
              opbench compare --ignore-parameters form closures blocks
            """)

    @Argument(help: ArgumentHelp("The run to compare with.", valueName: "base"), completion: .run)
    var base: String

    @Argument(help: ArgumentHelp("The run to compare.", valueName: "new"), completion: .run)
    var head: String

    @OptionGroup(title: OptionTitle.comparison) var report: ReportOptions
    @OptionGroup var options: ComparisonOptions

    func run() throws {
        let files = try report.files()
        let compared = ComparedRuns.runs(
            [try MeasuredRun(base, in: options.results.folder), try MeasuredRun(head, in: options.results.folder)])
        let policy = try report.loadPolicy(for: compared)
        let anchors = try policy.anchors(in: options.results.folder, file: report.policy)
        let rows = try compared.rows(by: policy, anchors: anchors, ignoring: options.ignoredParameters)
        try report.report(rows, policy: policy, compared: compared, anchors: anchors, files: files)
    }
}
