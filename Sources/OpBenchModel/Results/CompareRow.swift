/// The verdict of a comparison on one figure.
public enum Verdict: String, CaseIterable, Sendable {
    /// Not worse than the margin allows.
    case pass
    /// Better by more than the margin, as certain as a regression must be.
    case improved
    /// Worse by more than the margin, with the required certainty.
    case regression
    /// Verdicts of a goal: not above its bound; above it.
    case met, missed
    /// The data do not decide.
    case inconclusive
    /// The figure exists on one side only, or no run has the figure of a goal.
    case missing
    /// No rule matches the figure.
    case unjudged = ""
}

/// One row of `compare.csv`: one figure of one cell on two sides, `base` and `head`; or a figure, `head`, and the goal that
/// bounds it.
///
/// The parts of the figure's name are members of the row, too.
@dynamicMemberLookup
public struct CompareRow: CSVRow, Hashable {
    /// The run of the head; empty if that has no such figure.
    public var runID = ""
    /// As in `samples.csv`; if no run has a goal's figure, as the rule names it.
    public var figure: FigureName
    /// The baseline in place of the base, if a rule bounds the figure's drift; for a goal, the backend or the cell_id in
    /// the denominator; else empty.
    public var against = ""
    /// The medians of both sides or, of counts, the least that two samples agree on: in the metric's unit, per operation or
    /// round if the metric is counted so. A goal without a denominator has no base.
    public var base: Double?
    public var head: Double?
    /// head ÷ base, estimated by Hodges and Lehmann, and its interval; of counts, the quotient alone. Nil if some block has
    /// a 0: then the difference is judged instead. The interval of a goal without a denominator is that of the figure.
    public var ratio: Double?
    public var ratioLow: Double?
    public var ratioHigh: Double?
    /// The number of blocks of the smaller side or, if programs were linked in several layouts, of layouts.
    public var blocks: Int?
    /// The probability of such a difference if the sides are equal; and adjusted for the number of judged figures
    /// (Holm).
    public var probability: Double?
    public var adjustedProbability: Double?
    /// The relative difference that the rule allows, or its absolute one as a part of the figure if that is greater.
    public var threshold: Double?
    /// A goal's bound, of the ratio or the figure; nil in a comparison of two sides.
    public var atMost: Double?
    public var verdict: Verdict
    /// The reason of an inconclusive verdict; nil for other verdicts, and in rows that were read from a file.
    public var doubt: Doubt? { didSet { (reason, remedy) = (doubt?.words ?? "", doubt?.remedy ?? "") } }
    /// The reason in words, and its remedy; empty for other verdicts.
    public private(set) var reason = "", remedy = ""

    public init(_ figure: FigureName, verdict: Verdict = .unjudged) { (self.figure, self.verdict) = (figure, verdict) }

    public subscript<Part>(dynamicMember part: WritableKeyPath<FigureName, Part>) -> Part {
        get { figure[keyPath: part] }
        set { figure[keyPath: part] = newValue }
    }
}

extension CompareRow {
    /// The figure, and the reference of a goal or the baseline: `time total ÷ dispatch`.
    package var figureName: String {
        figure.title + (against.isEmpty ? "" : atMost == nil ? " since \(against)" : " ÷ \(against)")
    }

    public static let fileName = "compare.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<CompareRow>] = [
        .schemaVersion, .init("run_id", \.runID), .init("cell_id", \.figure.cellID),
        .init("backend", \.figure.backend), .init("phase", \.figure.phase),
        .init("operation_class", \.figure.operationClass), .init("metric", \.figure.metric),
        .init("stat", \.figure.stat), .init("against", \.against), .init("base_value", \.base),
        .init("head_value", \.head), .init("ratio", \.ratio), .init("ci_low", \.ratioLow),
        .init("ci_high", \.ratioHigh), .init("blocks", \.blocks), .init("p", \.probability),
        .init("p_adjusted", \.adjustedProbability), .init("threshold", \.threshold), .init("at_most", \.atMost),
        .init("verdict", \.verdict), .init("reason", \.reason), .init("remedy", \.remedy),
    ]

    public static let blank = CompareRow(FigureName())
}

extension [CompareRow] {
    /// The number of figures with each verdict: `10 pass, 2 inconclusive`; empty if none is judged.
    package var verdictCounts: String {
        Verdict.allCases.filter { $0 != .unjudged }.compactMap { verdict in
            let figures = self.count { $0.verdict == verdict }
            return figures == 0 ? nil : "\(figures) \(verdict.rawValue)"
        }.joined(separator: ", ")
    }
}
