/// A figure of a backend ÷ that of Dispatch, or of its form on the same axis, in the same block. Comparisons add these ratios to the metrics of samples.
/// Drift of the machine moves both figures alike.
public enum BaselineRatio: String, CaseIterable, Sendable {
    case time = "time_ratio"
    /// CPU time does not include the wait for a processor. It still shows a difference on a busy machine, where the
    /// clock does not.
    case cpuTime = "cpu_time_ratio"
    /// The latency in an open loop, whose time follows from the rate.
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

    /// The names that appear among those of metrics.
    public static let names = allCases.map(\.rawValue)
}
