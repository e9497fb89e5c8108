import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A figure that was judged, as all printed forms of a comparison or of goals show it.
protocol JudgedRow: CSVRow {
    /// The first three say of what it is a figure.
    static var reportColumns: [ReportColumn<Self>] { get }

    /// Empty where it does not matter.
    var runID: String { get }
    var figure: FigureName { get }
    var figureName: String { get }
    var verdict: Verdict { get }
    var doubt: Doubt? { get }
    var settledBy: String { get set }
    var ratio: Double? { get }
    /// The middle figures whose quotient stands beside the ratio.
    var medians: (own: Double, other: Double)? { get }
    /// The greatest worsening that may have gone unseen; nil if it is not known.
    var mostUnseen: Double? { get }
    /// The rule that judges this figure without a ratio, and lets pass what was measured; nil if nothing was.
    var allowingRule: String? { get }
}

extension JudgedRow {
    var cellID: String { figure.cellID }
    var backend: BackendID { figure.backend }
    var metric: String { figure.metric }

    /// The verdict, and why it is none.
    var judgement: String { verdict.rawValue + (doubt.map { ": \($0.words)" } ?? "") }
}

/// One column of the printed forms: what it says of a figure, and what that means.
struct ReportColumn<Row>: Sendable {
    let title: String
    var isText = false
    /// As `PrintedTable.Column` has them.
    var rank = 0
    var isJoined = false
    /// Whether a page shows it only when it is asked for.
    var isDetail = false
    let meaning: String
    let text: @Sendable (Row, FigureUnits) -> String
}

/// What figures are written by.
struct FigureUnits: Sendable {
    /// Of the clock that timed them, in nanoseconds.
    let clockResolution: Double

    func figure(_ value: Double?, of metric: String) -> String {
        Quantities.figure(value, of: metric, resolution: clockResolution)
    }

    /// Of counts that barely vary, with the digits in which it differs from the other side's.
    func figure(_ value: Double?, of metric: String, beside other: Double?) -> String {
        let text = figure(value, of: metric)
        guard let value, let other, value != other, Metric.named(metric)?.isDeterministic == true,
            text == figure(other, of: metric)
        else { return text }
        return Quantities.distinct(value, from: other) + (Metric.named(metric)?.unit == .bytes ? " B" : "")
    }
}

/// Judged figures, ready to be printed.
struct ComparisonReport<Row: JudgedRow> {
    /// Those that are inconclusive name the commands of their settlement.
    let rows: [Row]
    /// nil where nothing is gated.
    let outcome: GateOutcome?
    /// What settles the rows that are inconclusive, one for each remedy.
    let settlements: [Settlement]
    let units: FigureUnits
    let compared: Settling.Compared

    init(rows: [Row], outcome: GateOutcome?, settling: Settling) {
        self.outcome = outcome
        settlements = settling.settlements(of: rows)
        self.rows = settling.settled(rows, by: settlements)
        compared = settling.compared
        let resolutions = compared.runs.compactMap { $0.facts?.clockResolutionNanoseconds }
        units = FigureUnits(clockResolution: resolutions.max() ?? RunFacts.histogramUnitNanoseconds)
    }

    /// The fields of a figure, one for each column.
    func fields(_ row: Row) -> [String] { Row.reportColumns.map { $0.text(row, units) } }

    /// The cells of the rows by what they are; of a cell that no run has, the id alone.
    var cells: [CellNames.Named] {
        var parameters: [String: [String: String]] = [:]
        for run in compared.runs {
            for row in run.samples where parameters[row.cellID] == nil { parameters[row.cellID] = row.parameters }
        }
        return rows.map(\.cellID).uniqued().map { .init(id: $0, parameters: parameters[$0]) }
    }

    /// What the ratios are; nil if there are none.
    var ratioNote: String? {
        guard rows.contains(where: { $0.ratio != nil }) else { return nil }
        let ratios =
            switch compared {
            case .runs: "of each block of the one run to each of the other"
            case .sides: "within each block"
            case .goals: "within each block, or of each block of one cell to each of the other"
            }
        return "the median of the ratios \(ratios), not the quotient of the medians beside it"
    }

    /// A figure in one line, with what settles it if it is inconclusive.
    func sentence(_ row: Row) -> String {
        let figures = zip(Row.reportColumns, fields(row)).dropFirst(3).map { "\($0.title) \($1)" }
            .joined(separator: ", ")
        let remedy = row.doubt?.remedy
        let settlement = settlements.first { $0.remedy == remedy }.map { "; \($0.line)" } ?? ""
        return "\(row.cellID), \(row.backend.rawValue), \(row.figureName): \(figures)\(settlement)"
    }
}
