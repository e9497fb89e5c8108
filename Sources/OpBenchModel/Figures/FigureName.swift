/// The identity of a figure across runs: its cell, backend and metric.
public struct FigureName: Sendable, Hashable {
    public var cellID: String
    public var backend: BackendID
    /// `base` or `head` if two builds are compared; else empty.
    public var side: String
    /// A metric of the catalogue, or a `BaselineRatio`.
    public var metric: String
    public var phase: String
    public var operationClass: String
    public var stat: String

    public init(
        cellID: String = "", backend: BackendID = .engine, side: String = "", metric: String = "", phase: String = "",
        operationClass: String = "", stat: String = ""
    ) {
        self.cellID = cellID
        self.backend = backend
        self.side = side
        self.metric = metric
        self.phase = phase
        self.operationClass = operationClass
        self.stat = stat
    }

    /// Whether lower or higher is better; lower for a ratio of times.
    public var direction: Metric.Direction { Metric.named(metric)?.direction ?? .lower }

    /// The metric with its qualifiers: `time total`, `start_latency p99 priority=high`.
    public var title: String {
        ([metric] + [phase, stat == phase ? "" : stat, operationClass].filter { !$0.isEmpty }).joined(separator: " ")
    }

    /// The metric's unit; a ratio has none.
    public var unit: Metric.Unit { Metric.named(metric)?.unit ?? .ratio }
}

extension FigureName: Comparable {
    public static func < (left: FigureName, right: FigureName) -> Bool {
        let (first, second) = (left.place, right.place)
        return first == second ? left.stat < right.stat : first < second
    }

    /// All but the stat, in sort order.
    private var place: (String, String, String, String, String, String) {
        (cellID, backend.rawValue, side, metric, phase, operationClass)
    }
}

/// A backend's figure ÷ the figure of Dispatch, or of Dispatch's form on the same axis, in the same block. Comparisons
/// add these ratios to the metrics of samples. Drift of the machine moves both figures alike.
public enum BaselineRatio: String, CaseIterable, Sendable {
    case time = "time_ratio"
    /// CPU time excludes the wait for a processor, so it shows differences on a busy machine where the clock does not.
    case cpuTime = "cpu_time_ratio"
    /// The latency in an open loop, whose duration follows from the rate.
    case intendedLatency = "intended_latency_ratio"

    /// The metric that is divided, for all operations together.
    public var metric: Metric {
        switch self {
        case .time: .time
        case .cpuTime: .cpuTime
        case .intendedLatency: .intendedLatency
        }
    }

    /// The phase of that metric.
    public var phase: String { self == .intendedLatency ? "" : "total" }

    /// The names of the ratios, used as metric names.
    public static let names = allCases.map(\.rawValue)
}
