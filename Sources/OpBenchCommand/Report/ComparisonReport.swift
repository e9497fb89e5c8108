import OpBenchAnalysis
import OpBenchModel

/// A figure that was judged, as all printed forms of a comparison or of goals show it.
protocol JudgedRow: CSVRow {
    /// The first three say of what it is a figure.
    static var reportColumns: [ReportColumn<Self>] { get }

    /// Empty where it does not matter.
    var runID: String { get }
    var cellID: String { get }
    var backend: BackendID { get }
    var figureName: String { get }
    var verdict: Verdict { get }
    var doubt: Doubt? { get }
    var hasRatio: Bool { get }
}

extension JudgedRow {
    /// The verdict, and why it is none.
    var judgement: String { verdict.rawValue + (doubt.map { ": \($0.words)" } ?? "") }
}

/// One column of the printed forms.
struct ReportColumn<Row>: Sendable {
    let title: String
    var isText = false
    let text: @Sendable (Row) -> String
}

/// Judged figures, ready to be printed.
struct ComparisonReport<Row: JudgedRow> {
    let rows: [Row]
    /// nil where nothing is gated.
    let outcome: GateOutcome?
    /// What settles the rows that are inconclusive, one for each remedy.
    let settlements: [Settlement]
    private let compared: Settling.Compared

    init(rows: [Row], outcome: GateOutcome?, settling: Settling) {
        self.rows = rows
        self.outcome = outcome
        settlements = settling.settlements(of: rows)
        compared = settling.compared
    }

    /// What has to be known of the ratios; nil if there are none.
    var ratioNote: String? {
        guard rows.contains(where: \.hasRatio) else { return nil }
        let ratios =
            switch compared {
            case .runs: "of each block of the one run to each of the other"
            case .sides: "within each block"
            case .goals: "within each block, or of each block of one cell to each of the other"
            }
        return "ratio: the middle of the ratios \(ratios); not the quotient of the medians beside it."
    }

    /// A figure in one line, with what settles it if it is inconclusive.
    func sentence(_ row: Row) -> String {
        let figures = Row.reportColumns.dropFirst(3).map { "\($0.title) \($0.text(row))" }.joined(separator: ", ")
        let remedy = row.doubt?.remedy
        let settlement = settlements.first { $0.remedy == remedy }.map { "; \($0.line)" } ?? ""
        return "\(row.cellID), \(row.backend.rawValue), \(row.figureName): \(figures)\(settlement)"
    }
}
