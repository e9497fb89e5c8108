import OpBenchAnalysis
import OpBenchModel

/// One figure over the runs of one kind of host, in order of time.
public struct TrendSeries: Sendable, Hashable {
    /// The figure of one run.
    public struct Point: Sendable, Hashable {
        public var run: HistoryRun
        public var figure: RunFigure
        /// The change at this point: the mean from here to the next change ÷ the mean back to the previous change; nil
        /// at other points.
        public var change: Double?
        /// The facts around the code that differ from those of the runs before.
        public internal(set) var surroundingChanges: [SurroundingChange] = []

        /// Whether the figure changed while nothing known around the code did. If something did, the change may be of
        /// either.
        public var isChangeOfCode: Bool { change != nil && surroundingChanges.isEmpty }

        public init(run: HistoryRun, figure: RunFigure, change: Double? = nil) {
            self.run = run
            self.figure = figure
            self.change = change
        }
    }

    public var name: FigureName
    /// The host of all the runs: figures of different hosts are not comparable.
    public var host: HostKind
    public var points: [Point]

    public init(name: FigureName, host: HostKind, points: [Point]) {
        self.name = name
        self.host = host
        self.points = points
        markSurroundings()
    }

    /// A run that does not know a fact neither starts nor ends a change of it.
    private mutating func markSurroundings() {
        var known = Surroundings()
        for index in points.indices {
            let run = points[index].run
            let own = run.surroundings[name.side] ?? run.surroundings[""] ?? Surroundings()
            points[index].surroundingChanges = known.changes(to: own)
            known.update(by: own)
        }
    }

    /// The figure's name, such as `time total of head`.
    public var title: String { name.title + (name.side.isEmpty ? "" : " of \(name.side)") }

    /// Whether a change by that factor is for the worse; nil for a figure without a direction.
    public func isWorse(_ change: Double) -> Bool? {
        switch name.direction {
        case .lower: change > 1
        case .higher: change < 1
        case .neutral: nil
        }
    }
}
