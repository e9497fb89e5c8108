import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `--format`: the format of results on standard output.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    /// Aligned columns.
    case table
    /// The text of the corresponding CSV file.
    case csv
    /// Tables for GitHub pages.
    case markdown
}

/// The format of printed results: the options that all commands with results share.
struct PresentationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("How to print results.", discussion: "`csv` contains all figures.", valueName: "format"))
    var format = OutputFormat.table

    @Flag(
        help: ArgumentHelp(
            "Print a line per backend with all columns, whatever the width.",
            discussion: """
                By default, a table is as wide as the terminal, or as COLUMNS says; 80 columns in a file or a pipe. \
                Columns that do not fit are hidden, and listed below it.
                """))
    var wide = false

    /// The width of printed tables; nil for no limit.
    var width: Int? { wide ? nil : TableWidth.ofOutput() }

    /// - Parameter facts: the run of the rows; nil if unknown.
    func text(ofSummary rows: [SummaryRow], facts: RunFacts?) -> String {
        let context = SummaryContext(facts)
        return switch format {
        case .table where wide: SummaryTable(rows, context).text
        case .table:
            CellTable.text(of: rows, context, width: width, isColored: StandardOutput.isColored)
                + ReplayedGroups.text(of: rows, width: width)
        case .csv: CSVFile.text(of: rows)
        case .markdown: SummaryTable(rows, context).markdown
        }
    }

    func text(of report: ComparisonReport) -> String {
        switch format {
        case .table:
            ComparisonTable.text(of: report, width: width) + (wide ? VarianceTable.text(of: report.variances) : "")
        case .csv: CSVFile.text(of: report.rows)
        case .markdown: ComparisonMarkdown.text(of: report)
        }
    }
}
