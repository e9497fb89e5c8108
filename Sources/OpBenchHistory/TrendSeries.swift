import OpBenchModel

/// One figure over the runs of one kind of host, in the order of time.
public struct TrendSeries: Sendable, Hashable {
    /// What one run says.
    public struct Point: Sendable, Hashable {
        public var run: HistoryRun
        public var value: Double
        public var low: Double?
        public var high: Double?
        public var samples: Int
        /// Where the series changed: from this point on, the mean up to the next change ÷ that of the points before it,
        /// back to the change before; nil elsewhere.
        public var change: Double?

        public init(
            run: HistoryRun, value: Double, low: Double? = nil, high: Double? = nil, samples: Int, change: Double? = nil
        ) {
            self.run = run
            self.value = value
            self.low = low
            self.high = high
            self.samples = samples
            self.change = change
        }
    }

    public var name: FigureName
    /// Of all the runs: figures of different hosts say nothing of each other.
    public var host: HostKind
    public var points: [Point]

    public init(name: FigureName, host: HostKind, points: [Point]) {
        self.name = name
        self.host = host
        self.points = points
    }

    /// Whether a change by that factor is one to the worse; nil of a figure that is neither better nor worse.
    public func isWorse(_ change: Double) -> Bool? {
        switch name.direction {
        case .lower: change > 1
        case .higher: change < 1
        case .neutral: nil
        }
    }

    /// A row for each point.
    public var rows: [TrendRow] {
        points.map { point in
            TrendRow(
                name: name, runID: point.run.id, startedUTC: point.run.startedUTC, commit: point.run.commit ?? "",
                isDirty: point.run.isDirty, host: host, value: point.value, low: point.low, high: point.high,
                samples: point.samples, change: point.change)
        }
    }
}
