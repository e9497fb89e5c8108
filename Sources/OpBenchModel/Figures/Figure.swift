/// A figure of the summary, declared once: its source and how it is shown. `Figure.catalogue` holds all figures. The
/// columns of `summary.csv`, the tables, the page and the guide are derived from it.
public struct Figure: Sendable {
    /// The topic of the figure; the page groups its charts by it.
    public enum Topic: String, Sendable { case ratio, time, latency, rate, cost, memory, order }

    /// The figure's column in tables.
    public struct Column: Sendable {
        /// Columns are sorted by place.
        let place: Int
        /// Whether the figure is a part of a whole, written in percent.
        public let isPart: Bool

        init(_ place: Int, isPart: Bool = false) { (self.place, self.isPart) = (place, isPart) }
    }

    /// The column of `summary.csv`. The ends of the interval are in `…_ci_low` and `…_ci_high`.
    public let name: String
    /// The metric of the sample rows, with its stat and phase.
    public let metric: Metric
    public let stat: String
    public let phase: String
    /// The divisor of each sample's figure.
    public let basis: Metric.Basis
    /// Whether the figure is divided by the baseline's figure, block by block.
    public let isRatio: Bool
    public let hasInterval: Bool
    public let topic: Topic
    /// The title, short enough for a column. A soft hyphen marks where a word may be broken.
    public let title: String
    /// One or two sentences for people.
    public let meaning: String
    /// Nil for a figure that tables leave out.
    public let column: Column?
    /// Whether the page's table shows the figure by default.
    public let isHeadline: Bool

    init(
        _ name: String, _ metric: Metric, _ stat: String, phase: String = "", per basis: Metric.Basis? = nil,
        isRatio: Bool = false, hasInterval: Bool = false, _ topic: Topic, _ title: String, _ meaning: String,
        column: Column? = nil, isHeadline: Bool = false
    ) {
        (self.name, self.metric, self.stat, self.phase) = (name, metric, stat, phase)
        (self.basis, self.isRatio, self.hasInterval) = (basis ?? metric.basis, isRatio, hasInterval)
        (self.topic, self.title, self.meaning, self.column) = (topic, title, meaning, column)
        self.isHeadline = isHeadline
    }

    public var unit: Metric.Unit { isRatio ? .ratio : metric.unit }
    public var direction: Metric.Direction { isRatio ? .lower : metric.direction }

    /// The columns of `summary.csv`: the figure, and the ends of its interval.
    public var columns: [ColumnMeaning] {
        let ends = hasInterval ? [(Self.lowSuffix, "low"), (Self.highSuffix, "high")] : []
        return [ColumnMeaning(name: name, unit: unit.rawValue, meaning: meaning)]
            + ends.map { suffix, end in
                ColumnMeaning(
                    name: name + suffix, unit: unit.rawValue,
                    meaning: "The \(end) end of the 95 % interval of `\(name)`.")
            }
    }

    static let lowSuffix = "_ci_low"
    static let highSuffix = "_ci_high"

    /// The figures that tables show, in the order of their columns.
    public static let tabled = catalogue.filter { $0.column != nil }.sorted { $0.column!.place < $1.column!.place }
}

extension Figure: Hashable {
    public static func == (left: Figure, right: Figure) -> Bool { left.name == right.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// An estimate of a figure from all samples.
public struct Estimate: Sendable, Hashable {
    /// Nil if no sample reports the figure.
    public var value: Double?
    /// The ends of the 95 % interval; nil if there are too few samples for one.
    public var low: Double?
    public var high: Double?

    public init(value: Double? = nil, low: Double? = nil, high: Double? = nil) {
        (self.value, self.low, self.high) = (value, low, high)
    }
}
