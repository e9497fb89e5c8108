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
@dynamicMemberLookup
public struct CompareRow: Sendable, Hashable {
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
    public var doubt: Doubt? { didSet { reason = doubt?.words ?? "" } }
    /// The same in words; empty for all other verdicts.
    public private(set) var reason = ""
    /// The commands that settle an inconclusive figure, for a shell, joined by ` && `; empty where none are known.
    public var settledBy = ""

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

    /// The parts of the figure's name.
    public subscript<Part>(dynamicMember part: WritableKeyPath<FigureName, Part>) -> Part {
        get { figure[keyPath: part] }
        set { figure[keyPath: part] = newValue }
    }
}

extension CompareRow: CSVRow {
    public static let fileName = "compare.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<CompareRow>] = [
        .schemaVersion, .init("cell_id", \.figure.cellID), .init("backend", \.figure.backend),
        .init("phase", \.figure.phase),
        .init("operation_class", \.figure.operationClass), .init("metric", \.figure.metric),
        .init("stat", \.figure.stat),
        .init("base_value", \.base), .init("head_value", \.head), .init("ratio", \.ratio),
        .init("ci_low", \.ratioLow), .init("ci_high", \.ratioHigh),
        .init("p", \.probability), .init("p_adjusted", \.adjustedProbability),
        .init("noise_floor", \.noiseFloor), .init("threshold", \.threshold), .init("verdict", \.verdict),
        .init("reason", \.reason), .init("settled_by", \.settledBy),
    ]

    public static let blank = CompareRow(
        cellID: "", backend: .engine, phase: "", operationClass: "", metric: "", stat: "")
}

/// Why a comparison does not tell of a figure, and how many blocks on each side are likely to.
public enum Doubt: Sendable, Hashable {
    /// An absolute figure of two runs of different times, which drift apart by what was not measured.
    case noNoiseFloor
    /// Fewer blocks than the rule takes, or than an interval does.
    case tooFewBlocks(Int, enough: Int)
    /// The interval reaches over the margin. `enough` is nil where more blocks than a run has would not do.
    case wideInterval(blocks: Int, enough: Int?)
    /// The interval lies beyond the margin, but the adjusted p-value is not below alpha. `enough` as above.
    case likelyChance(blocks: Int, enough: Int?)
    /// More pairs of blocks than the exact test takes.
    case tooManyBlocks(Int, most: Int)
    /// The figure that a goal's ratio refers to is 0.
    case noRatio

    /// In as few words as a table has room for.
    public var words: String {
        switch self {
        case .noNoiseFloor: "no noise floor"
        case .tooFewBlocks(let blocks, let enough): "\(blocks) of \(enough) blocks"
        case .wideInterval(let blocks, let enough?): "wide interval, \(blocks) of \(enough) blocks"
        case .wideInterval: "too noisy for the margin"
        case .likelyChance(let blocks, let enough?): "p not below alpha, \(blocks) of \(enough) blocks"
        case .likelyChance: "p not below alpha"
        case .tooManyBlocks(let blocks, let most): "\(blocks) blocks, \(most) at most"
        case .noRatio: "no ratio to 0"
        }
    }
}
