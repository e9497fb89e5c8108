import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench show RUN…`
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print the summary of recorded runs.",
        discussion: """
            A run is a folder, a samples.csv, or the id of a run under results/ or results/baseline/. It may be \
            finished, interrupted, or still running: the summary covers the rows in its samples.csv. Writes no file. \
            `csv` prints the rows of summary.csv.

            EXAMPLES
              opbench show
              opbench show 20261121T130501Z-3fa9
              opbench show --filter depth=20 --ratio-to foundation results/night
              opbench show --wide before after
              opbench show --format csv night
            """)

    @Argument(help: ArgumentHelp("The runs; by default the latest.", valueName: "run"), completion: .run)
    var names: [String] = []

    @Option(
        name: .customLong("ratio-to"),
        help: ArgumentHelp("The reference backend of ratios.", valueName: "backend"), completion: .backends)
    var baseline = BackendID.dispatch.rawValue

    @Option(
        help: ArgumentHelp(
            "Only cells with a name that contains a match of the regular expression.", valueName: "regex"))
    var filter: String?

    @OptionGroup var presentation: PresentationOptions

    @OptionGroup var results: ResultsOption

    func run() throws {
        let filter = try filter.map { (pattern) throws(InputError) in try CellFilter(pattern) }
        let runs = try MeasuredRun.named(names, in: results.folder, isTornAllowed: true).map { run in
            try ShownRun(run, ratioTo: BackendID(rawValue: baseline), filter: filter)
        }
        try StandardOutput.write(presentation.text(of: runs))
    }
}
