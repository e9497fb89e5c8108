/// What a figure of a run is: of which cell on which backend, and what it counts. The same in every run.
public struct FigureName: Sendable, Hashable {
    public var cellID: String
    public var backend: BackendID
    /// Empty, or `base`/`head` where two builds are compared.
    public var side: String
    /// A metric of the catalogue, or a `BaselineRatio`.
    public var metric: String
    public var phase: String
    public var operationClass: String
    public var stat: String

    public init(
        cellID: String, backend: BackendID, side: String = "", metric: String, phase: String,
        operationClass: String = "", stat: String
    ) {
        self.cellID = cellID
        self.backend = backend
        self.side = side
        self.metric = metric
        self.phase = phase
        self.operationClass = operationClass
        self.stat = stat
    }

    /// Whether more or less is better; of a ratio of times, less.
    public var direction: Metric.Direction { Metric.named(metric)?.direction ?? .lower }

    /// The unit of the figure: the metric's, per operation or round where the metric is counted so.
    public var unit: Metric.Unit { Metric.named(metric)?.unit ?? .ratio }
}

extension FigureName: Comparable {
    public static func < (left: FigureName, right: FigureName) -> Bool {
        let (first, second) = (left.place, right.place)
        return first == second ? left.stat < right.stat : first < second
    }

    /// All but the stat, in the order in which figures are sorted.
    private var place: (String, String, String, String, String, String) {
        (cellID, backend.rawValue, side, metric, phase, operationClass)
    }
}
