/// One figure over many runs, as a page shows it: made by whoever keeps a history of runs.
///
/// Figures that are no numbers are left out of the page. A value, and thread-safe as such.
public struct TrendSeries: Sendable, Hashable {
    /// The figure of one run.
    public struct Point: Sendable, Hashable {
        public var runID: String
        /// ISO 8601, UTC, such as `2026-11-23T05:59:13Z`: when the run began. Points are shown in the order given.
        public var date: String
        /// Of the sources that were measured; empty if nobody knows.
        public var commit: String
        /// In the series' unit.
        public var value: Double
        /// The ends of the interval of 95 %; nil where there is none.
        public var low: Double?
        public var high: Double?

        public init(
            runID: String, date: String, commit: String = "", value: Double, low: Double? = nil, high: Double? = nil
        ) {
            (self.runID, self.date, self.commit) = (runID, date, commit)
            (self.value, self.low, self.high) = (value, low, high)
        }
    }

    /// Where the level of the figure changed.
    public struct ChangePoint: Sendable, Hashable {
        /// The first run of the new level, by its place among `points`.
        public var index: Int
        /// The level from here on ÷ the level before; nil where that is 0.
        public var ratio: Double?
        /// The p-value of the change; nil where the method gives none.
        public var probability: Double?

        public init(index: Int, ratio: Double? = nil, probability: Double? = nil) {
            (self.index, self.ratio, self.probability) = (index, ratio, probability)
        }
    }

    /// In what a figure is counted, which decides how it is written.
    public enum Unit: String, Sendable, CaseIterable {
        case nanoseconds = "ns"
        case bytes = "B"
        case perSecond = "1/s"
        case count
        /// A ratio of two figures of one kind.
        case ratio
    }

    /// Which way is better; nil for a figure that is neither.
    public enum Better: String, Sendable { case lower, higher }

    public var cellID: String
    public var backend: String
    /// The figure's name, such as `time_ns_per_op`.
    public var metric: String
    public var unit: Unit
    public var better: Better?
    public var points: [Point]
    public var changePoints: [ChangePoint]

    public init(
        cellID: String, backend: String, metric: String, unit: Unit, better: Better? = .lower, points: [Point],
        changePoints: [ChangePoint] = []
    ) {
        (self.cellID, self.backend, self.metric, self.unit, self.better) = (cellID, backend, metric, unit, better)
        (self.points, self.changePoints) = (points, changePoints)
    }
}
