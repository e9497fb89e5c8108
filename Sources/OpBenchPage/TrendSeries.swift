import OpBenchModel

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

    public var cellID: String
    public var backend: String
    /// The figure's name, such as `time total`.
    public var metric: String
    public var unit: Metric.Unit
    public var points: [Point]
    public var changePoints: [ChangePoint]

    public init(
        cellID: String, backend: String, metric: String, unit: Metric.Unit, points: [Point],
        changePoints: [ChangePoint] = []
    ) {
        (self.cellID, self.backend, self.metric, self.unit) = (cellID, backend, metric, unit)
        (self.points, self.changePoints) = (points, changePoints)
    }
}
