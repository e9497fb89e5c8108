import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `--format`: how the summary goes to standard output.
enum SummaryFormat: String, CaseIterable, ExpressibleByArgument {
    /// Aligned columns for people.
    case table
    /// The text of summary.csv.
    case csv
    /// An array of objects by the names of summary.csv's columns; absent figures are null.
    case json

    /// - Parameter facts: of the run that the rows are of; nil if nothing is known.
    func text(of rows: [SummaryRow], facts: RunFacts?) -> String {
        switch self {
        case .table:
            SummaryTable.text(
                of: rows, clockResolution: facts?.clockResolutionNanoseconds ?? RunFacts.histogramUnitNanoseconds)
        case .csv: CSVFile.text(of: rows)
        case .json: RowJSON.text(of: rows)
        }
    }
}
