/// A figure of a backend ÷ that of Dispatch in the same block, which comparisons add to the metrics of samples: drift of the
/// machine moves both alike.
public enum BaselineRatio: String, CaseIterable, Sendable {
    case time = "time_ratio"
    /// CPU time does not count the wait for a processor: on a busy machine it tells when the clock no longer does.
    case cpuTime = "cpu_time_ratio"
    /// Of an open loop, whose time is the rate's to say.
    case intendedLatency = "intended_latency_ratio"

    /// What is divided, of all operations together.
    public var metric: Metric {
        switch self {
        case .time: .time
        case .cpuTime: .cpuTime
        case .intendedLatency: .intendedLatency
        }
    }

    /// The phase of that metric.
    public var phase: String { self == .intendedLatency ? "" : "total" }

    /// The names that stand among those of metrics.
    public static let names = allCases.map(\.rawValue)
}
