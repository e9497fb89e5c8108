import ArgumentParser
import OpBenchModel

/// `--format`: how the summary goes to standard output.
enum SummaryFormat: String, CaseIterable, ExpressibleByArgument {
    /// Aligned columns for people.
    case table
    /// The text of summary.csv.
    case csv
    /// An array of objects by the names of summary.csv's columns; absent figures are null.
    case json

    func text(of rows: [SummaryRow]) -> String {
        switch self {
        case .table: SummaryTable.text(of: rows)
        case .csv: CSVFile.text(of: rows)
        case .json: RowJSON.text(of: rows)
        }
    }
}
