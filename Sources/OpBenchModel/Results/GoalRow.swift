/// One row of `goals.csv`: one goal and a figure that it bounds.
public struct GoalRow: FigureRow, Hashable {
    /// The run of the figure; empty if the figure is missing.
    public var runID: String
    /// As in `samples.csv`; if the figure is missing, as the goal's rule names it.
    public var figure: FigureName
    /// The backend or the cell_id in the denominator; empty if the figure itself is bounded.
    public var reference: String
    /// The medians of the goal's figure and of its reference, per operation or round if the metric is counted so.
    public var value: Double?
    public var base: Double?
    /// The ratio of the two, estimated by Hodges and Lehmann; nil if the figure itself is bounded.
    public var ratio: Double?
    /// The interval of the ratio, or of the figure.
    public var low: Double?
    public var high: Double?
    /// The number of blocks.
    public var blocks: Int?
    public var atMost: Double?
    public var verdict: Verdict
    /// The reason of an inconclusive verdict; nil for other verdicts, and in rows that were read from a file.
    public var doubt: Doubt? { didSet { (reason, remedy) = (doubt?.words ?? "", doubt?.remedy ?? "") } }
    /// The reason in words, and its remedy; empty for other verdicts.
    public private(set) var reason = "", remedy = ""

    public init(
        runID: String = "", cellID: String, backend: BackendID, phase: String, operationClass: String, metric: String,
        stat: String, reference: String = "", atMost: Double? = nil, verdict: Verdict = .missing
    ) {
        self.init(
            FigureName(
                cellID: cellID, backend: backend, metric: metric, phase: phase, operationClass: operationClass,
                stat: stat), reference: reference, atMost: atMost, verdict: verdict)
        self.runID = runID
    }

    public init(
        _ figure: FigureName, reference: String = "", atMost: Double? = nil, verdict: Verdict = .missing
    ) {
        (runID, self.figure, self.reference) = ("", figure, reference)
        (self.atMost, self.verdict) = (atMost, verdict)
    }
}

extension GoalRow {
    public static let fileName = "goals.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<GoalRow>] =
        [.schemaVersion, .init("run_id", \.runID)] + figureColumns + [
            .init("against", \.reference), .init("value", \.value), .init("base_value", \.base),
            .init("ratio", \.ratio),
            .init("ci_low", \.low), .init("ci_high", \.high), .init("blocks", \.blocks), .init("at_most", \.atMost),
            .init("verdict", \.verdict), .init("reason", \.reason), .init("remedy", \.remedy),
        ]

    public static let blank = GoalRow(
        cellID: "", backend: .engine, phase: "", operationClass: "", metric: "", stat: "")
}
