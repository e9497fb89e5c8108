import ArgumentParser
import OpBenchHistory
import OpBenchModel
import OpBenchRunner

/// `opbench history trend`
struct HistoryTrendCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trend",
        abstract: "Print how figures change from run to run, and where they changed.",
        discussion: """
            Prints one line per figure, or one per run if a single figure is selected; the history's file has them all. \
            Without --metric, these are the times of operations and their ratios to Dispatch's. Runs with the same \
            class of host, allocator and build make one series; others have separate tables. Machines drift from day \
            to day; the ratio to Dispatch does not.

            Apache Otava finds change points if it is installed: `otava` on PATH, or the program in the variable \
            OPBENCH_OTAVA. The change is the mean from there on, relative to the mean before.

            EXAMPLES
              opbench history trend
              opbench history trend --cell 'depth=1000' --backend engine
              opbench history trend --metric allocations,start_latency
            """)

    @OptionGroup var figures: FigureSelection

    @Flag(inversion: .prefixedNo, help: "Look for the points where figures changed.")
    var changePoints = true

    @OptionGroup var place: HistoryPlace

    func run() throws {
        try StandardOutput.write(
            TrendTable.text(of: Self.series(figures, of: place, changePoints: changePoints)))
    }

    /// The selected series, with their change points if they are wanted and Otava is installed.
    static func series(_ figures: FigureSelection, of place: HistoryPlace, changePoints: Bool) throws -> [TrendSeries] {
        let series = try figures.series(of: try History(place.path))
        guard changePoints else { return series }
        guard let finder = ChangePoints() else {
            StandardError.say("opbench: no change points: Apache Otava is not installed; \(ChangePoints.remedy)")
            return series
        }
        return try CancellableWork.finish { try await finder.found(in: series) }
    }
}
