import ArgumentParser
import OpBenchHistory
import OpBenchModel
import OpBenchPage

/// `opbench history report -o FILE`
struct HistoryReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write an HTML page that shows how figures change from run to run.",
        discussion: """
            Writes one self-contained HTML file with the figures that `opbench history trend` prints, and their change \
            points.

            EXAMPLES
              opbench history report -o trend.html
              opbench history report --metric allocations,time_ratio -o trend.html
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
    var output: String

    @OptionGroup var figures: FigureSelection

    @OptionGroup var place: HistoryPlace

    func run() throws {
        let file = try ReportFile(output)
        let series = try figures.series(of: place)
        let page = ReportPage(
            title: "History: \(TrendText.span(TrendText.runs(of: series)))", trends: series,
            maker: "Made by opbench \(ProgramVersion.number).")
        try ReportFile.write([(file, page.html)])
    }
}
