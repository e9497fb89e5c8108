/// What a comparison says of one figure.
public enum Verdict: String, CaseIterable, Sendable {
    /// Not worse than the margin allows.
    case pass
    /// Better by more than the margin, as certain as a regression must be.
    case improved
    /// Worse by more than the margin, with the certainty asked for.
    case regression
    /// Of a goal: not above its bound; or above it.
    case met, missed
    /// The data do not tell.
    case inconclusive
    /// The figure exists on one side only; or no run has what a goal is about.
    case missing
    /// No rule asks about it.
    case unjudged = ""
}

/// One row of `compare.csv`: one figure of one cell on two sides, `base` and `head`.
public struct CompareRow: FigureRow, Hashable {
    public var figure: FigureName
    /// The middle figures of both sides, in the metric's unit, per operation or per round where the metric is counted so.
    public var base: Double?
    public var head: Double?
    /// head ÷ base, as Hodges and Lehmann estimate it, and its interval. Nil if some block has a 0: then there is no
    /// ratio, and the difference is judged.
    public var ratio: Double?
    public var ratioLow: Double?
    public var ratioHigh: Double?
    /// The probability of such a difference if there is none; and adjusted for how many figures are judged (Holm).
    public var probability: Double?
    public var adjustedProbability: Double?
    /// The relative difference that this host shows between equal sides, if it was measured.
    public var noiseFloor: Double?
    /// The relative difference that the rule allows, raised to the noise floor or the rule's absolute floor if that is
    /// greater.
    public var threshold: Double?
    public var verdict: Verdict
    /// Why an inconclusive verdict is none; nil for all others, and in rows that were read from a file.
    public var doubt: Doubt? { didSet { (reason, remedy) = (doubt?.words ?? "", doubt?.remedy ?? "") } }
    /// The same in words, and what to do about it; empty for all other verdicts.
    public private(set) var reason = "", remedy = ""

    public init(
        cellID: String, backend: BackendID, phase: String, operationClass: String, metric: String, stat: String,
        verdict: Verdict = .unjudged
    ) {
        self.init(
            FigureName(
                cellID: cellID, backend: backend, metric: metric, phase: phase, operationClass: operationClass,
                stat: stat), verdict: verdict)
    }

    public init(_ figure: FigureName, verdict: Verdict = .unjudged) { (self.figure, self.verdict) = (figure, verdict) }
}

extension CompareRow {
    public static let fileName = "compare.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<CompareRow>] =
        [.schemaVersion] + figureColumns + [
            .init("base_value", \.base), .init("head_value", \.head), .init("ratio", \.ratio),
            .init("ci_low", \.ratioLow), .init("ci_high", \.ratioHigh),
            .init("p", \.probability), .init("p_adjusted", \.adjustedProbability),
            .init("noise_floor", \.noiseFloor), .init("threshold", \.threshold), .init("verdict", \.verdict),
            .init("reason", \.reason), .init("remedy", \.remedy),
        ]

    public static let blank = CompareRow(
        cellID: "", backend: .engine, phase: "", operationClass: "", metric: "", stat: "")
}
