import OpBenchModel

/// One figure over many runs, as a page shows it; built from a history of runs.
///
/// Figures that are not finite are left out of the page. Thread-safe as a value.
public struct TrendSeries: Sendable, Hashable {
    /// The figure of one run.
    public struct Point: Sendable, Hashable {
        public var runID: String
        /// The time at which the run began: ISO 8601, UTC, such as `2026-11-23T05:59:13Z`. Points are shown in the
        /// given order.
        public var date: String
        /// The commit that was measured; empty if unknown.
        public var commit: String
        /// In the series' unit.
        public var value: Double
        /// The ends of the 95 % interval; nil if there is none.
        public var low: Double?
        public var high: Double?

        public init(
            runID: String, date: String, commit: String = "", value: Double, low: Double? = nil, high: Double? = nil
        ) {
            (self.runID, self.date, self.commit) = (runID, date, commit)
            (self.value, self.low, self.high) = (value, low, high)
        }
    }

    /// A change of the figure's level.
    public struct ChangePoint: Sendable, Hashable {
        /// The first run of the new level, as an index of `points`.
        public var index: Int
        /// The new level ÷ the old one; nil if that is 0.
        public var ratio: Double?
        /// The p-value of the change; nil if the method gives none.
        public var probability: Double?
        /// Whether nothing known around the code changed there.
        public var isOfCode: Bool

        public init(index: Int, ratio: Double? = nil, probability: Double? = nil, isOfCode: Bool = true) {
            (self.index, self.ratio, self.probability, self.isOfCode) = (index, ratio, probability, isOfCode)
        }
    }

    /// A run at which something around the code changed, such as the compiler.
    public struct SurroundingChange: Sendable, Hashable {
        /// As an index of `points`.
        public var index: Int
        /// The changed facts, and a line for each: `compiler: A → B`.
        public var titles: [String]
        public var lines: [String]

        public init(index: Int, titles: [String], lines: [String]) {
            (self.index, self.titles, self.lines) = (index, titles, lines)
        }
    }

    public var cellID: String
    public var backend: String
    /// The figure's name, such as `time total`.
    public var metric: String
    public var unit: Metric.Unit
    public var points: [Point]
    public var changePoints: [ChangePoint]
    public var surroundings: [SurroundingChange]

    public init(
        cellID: String, backend: String, metric: String, unit: Metric.Unit, points: [Point],
        changePoints: [ChangePoint] = [], surroundings: [SurroundingChange] = []
    ) {
        (self.cellID, self.backend, self.metric, self.unit) = (cellID, backend, metric, unit)
        (self.points, self.changePoints, self.surroundings) = (points, changePoints, surroundings)
    }
}
