import ArgumentParser
import OpBenchAnalysis
import OpBenchModel

/// Where runs are found and how their cells are matched: what `compare` and `gate` have in common.
struct ComparisonOptions: ParsableArguments {
    @Option(
        name: .customLong("ignore-parameters"),
        help: ArgumentHelp(
            "Parameters, separated by commas, in which cells that are compared may differ.", valueName: "list"))
    var ignoredParameters: String?

    @Option(
        name: .customLong("results"), help: ArgumentHelp("The folder to look runs up in.", valueName: "dir"))
    var folder = "results"

    func validate() throws { try FolderArgument.check(folder, option: "--results") }

    func compare(_ base: RecordedRun, _ head: RecordedRun, policy: GatePolicy) throws(InputError) -> [CompareRow] {
        try comparison.compare(base, head, policy: policy)
    }

    /// The sides of a run of two interleaved builds.
    func compareSides(of run: RecordedRun, policy: GatePolicy) throws(InputError) -> [CompareRow] {
        try comparison.compareSides(of: run, policy: policy)
    }

    private var comparison: RunComparison { RunComparison(folder: folder, ignoredParameters: ignoredParameters) }
}
