/// Judged figures, which the page shows first: a gate's outcome, or the verdicts of an A/B run or of goals. All texts
/// are shown as they are; the page escapes them.
public struct JudgedFigures: Sendable {
    /// One judged figure.
    public struct Row: Sendable {
        /// The figure's cell and name: `time total`.
        public var cellID: String
        public var figure: String
        /// The texts under `columns`.
        public var cells: [String]
        /// `pass`, `improved`, `regression`, `met`, `missed`, `inconclusive`, `missing`; empty if no rule matches.
        public var verdict: String
        public var backend: String
        /// Head ÷ base, with its 95 % interval; nil if there is no ratio.
        public var ratio: Double?
        public var low: Double?
        public var high: Double?
        /// The relative difference that passes, or the bound of a ratio; nil if there is none.
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
        /// Whether the row explains other rows, and is shown on request.
        public var isDetail: Bool

        public init(title: String, isText: Bool, isDetail: Bool = false) {
            (self.title, self.isText, self.isDetail) = (title, isText, isDetail)
        }
    }

    /// The operands of the ratios.
    public enum Kind: String, Sendable { case baseline, sides, goals }

    public var kind: Kind
    /// The judged runs and the reference: `today against the baseline main`.
    public var title: String
    /// The outcome in the gate's word.
    public var outcome: String
    public var columns: [Column]
    public var rows: [Row]
    /// The facts around the code that differ between the sides, one line each.
    public var surroundings: [String]
    /// The actions for inconclusive figures, one line each.
    public var remedies: [String]

    public init(
        kind: Kind, title: String, outcome: String, columns: [Column], rows: [Row],
        surroundings: [String] = [], remedies: [String] = []
    ) {
        (self.kind, self.title, self.outcome, self.columns, self.rows) = (kind, title, outcome, columns, rows)
        (self.surroundings, self.remedies) = (surroundings, remedies)
    }
}
