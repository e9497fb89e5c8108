import OpBenchAnalysis
import OpBenchModel

/// A comparison, ready to be printed.
struct ComparisonReport {
    let rows: [CompareRow]
    /// nil where nothing is gated.
    let outcome: GateOutcome?
    /// What settles the rows that are inconclusive, one for each remedy.
    let settlements: [Settlement]
    private let arePairs: Bool

    init(rows: [CompareRow], outcome: GateOutcome?, settling: Settling) {
        self.rows = rows
        self.outcome = outcome
        settlements = settling.settlements(of: rows)
        switch settling.compared {
        case .runs: arePairs = false
        case .sides: arePairs = true
        }
    }

    /// What has to be known of the ratios; nil if there are none.
    var ratioNote: String? {
        guard rows.contains(where: { $0.ratio != nil }) else { return nil }
        let ratios = arePairs ? "within each block" : "of each block of the one run to each of the other"
        return "ratio: the middle of the ratios \(ratios); not the quotient of the medians beside it."
    }

    /// A figure in one line, with what settles it if it is inconclusive.
    func sentence(_ row: CompareRow) -> String {
        let figures = ComparisonColumn.all.dropFirst(3).map { "\($0.title) \($0.text(row))" }.joined(separator: ", ")
        let remedy = row.doubt?.remedy
        let settlement = settlements.first { $0.remedy == remedy }.map { "; \($0.line)" } ?? ""
        return "\(row.cellID), \(row.backend.rawValue), \(row.figureName): \(figures)\(settlement)"
    }
}
