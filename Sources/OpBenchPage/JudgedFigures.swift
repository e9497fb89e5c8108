/// What was judged, as the page shows it first: a gate's outcome, an A/B run's verdicts, or those of goals. All texts are
/// shown as they are; the page escapes them.
public struct JudgedFigures: Sendable {
    /// One judged figure.
    public struct Row: Sendable {
        /// Of which cell it is, and which figure: `time total`.
        public var cellID: String
        public var figure: String
        /// Texts under `columns`.
        public var cells: [String]
        /// `pass`, `improved`, `regression`, `met`, `missed`, `inconclusive`, `missing`; empty where nothing was asked.
        public var verdict: String
        public var backend: String
        /// Head ÷ base, with its interval of 95 %; nil where there is no ratio.
        public var ratio: Double?
        public var low: Double?
        public var high: Double?
        /// The relative difference that passes, or the bound that a ratio is held to; nil where there is none.
        public var margin: Double?

        public init(
            cellID: String, figure: String, cells: [String], verdict: String, backend: String, ratio: Double? = nil,
            low: Double? = nil, high: Double? = nil, margin: Double? = nil
        ) {
            (self.cellID, self.figure, self.cells) = (cellID, figure, cells)
            (self.verdict, self.backend) = (verdict, backend)
            (self.ratio, self.low, self.high, self.margin) = (ratio, low, high, margin)
        }
    }

    public struct Column: Sendable {
        public var title: String
        public var isText: Bool
        /// Whether it explains the others, and is shown when it is asked for.
        public var isDetail: Bool

        public init(title: String, isText: Bool, isDetail: Bool = false) {
            (self.title, self.isText, self.isDetail) = (title, isText, isDetail)
        }
    }

    /// What the ratios are of.
    public enum Kind: String, Sendable { case baseline, sides, goals }

    public var kind: Kind
    /// What was judged by what: `today against the baseline main`.
    public var title: String
    /// The gate's word.
    public var outcome: String
    public var columns: [Column]
    public var rows: [Row]
    /// What is to be done about inconclusive figures, a line for each thing.
    public var remedies: [String]
    /// What has to be known of the ratios; empty if there are none.
    public var note: String

    public init(
        kind: Kind, title: String, outcome: String, columns: [Column], rows: [Row], remedies: [String] = [],
        note: String = ""
    ) {
        (self.kind, self.title, self.outcome, self.columns, self.rows) = (kind, title, outcome, columns, rows)
        (self.remedies, self.note) = (remedies, note)
    }
}
