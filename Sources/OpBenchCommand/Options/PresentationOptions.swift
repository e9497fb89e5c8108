import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `--format`: how results go to standard output.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    /// Aligned columns for people.
    case table
    /// The text of the CSV file that holds such rows.
    case csv
    /// An array of objects by the names of that file's columns; absent figures are null.
    case json
    /// Tables for a page on GitHub.
    case markdown
}

/// How results are printed: what all commands that print them have in common.
struct PresentationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How to print results.", discussion: "`csv` and `json` have every figure.", valueName: "format"))
    var format = OutputFormat.table

    @Flag(
        help: ArgumentHelp(
            "Print all columns of tables, however wide that is.",
            discussion: """
                Without it a table is as wide as the terminal, or as COLUMNS says; 80 columns into a file or a pipe. Columns \
                that have no room are left out, and named below it.
                """))
    var wide = false

    /// Of printed tables; nil for as much as they take.
    var width: Int? { wide ? nil : TableWidth.ofOutput() }

    /// - Parameter facts: of the run that the rows are of; nil if nothing is known.
    func text(ofSummary rows: [SummaryRow], facts: RunFacts?) -> String {
        let resolution = facts?.clockResolutionNanoseconds ?? RunFacts.histogramUnitNanoseconds
        let isQuick = facts?.isQuick ?? false
        return switch format {
        case .table: SummaryTable.text(of: rows, clockResolution: resolution, isQuick: isQuick, width: width)
        case .csv: CSVFile.text(of: rows)
        case .json: RowJSON.text(of: rows)
        case .markdown: SummaryMarkdown.text(of: rows, clockResolution: resolution, isQuick: isQuick)
        }
    }

    func text<Row>(of report: ComparisonReport<Row>) -> String {
        switch format {
        case .table: ComparisonTable.text(of: report, width: width)
        case .csv: CSVFile.text(of: report.rows)
        case .json: RowJSON.text(of: report.rows)
        case .markdown: ComparisonMarkdown.text(of: report)
        }
    }
}
