/// A recorded run as it goes to other tools.
public struct ExportedRun: Sendable {
    public var runID: String
    /// ISO 8601, UTC.
    public var startedUTC: String
    public var commit: String
    public var summary: [SummaryRow]
    /// The throughput of every sample behind a row of the summary, by block; empty where there is none.
    public var rates: @Sendable (SummaryRow) -> [Double]

    public init(
        runID: String, startedUTC: String, commit: String, summary: [SummaryRow],
        rates: @escaping @Sendable (SummaryRow) -> [Double]
    ) {
        self.runID = runID
        self.startedUTC = startedUTC
        self.commit = commit
        self.summary = summary
        self.rates = rates
    }
}

/// The forms in which runs go to other tools.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// A CSV file with a line a run, and the configuration by which Apache Otava reads it.
    case otava
    case otavaConfig = "otava-config"
    /// As JMH's own `-rf json`.
    case jmh
    /// For the action's `customSmallerIsBetter`.
    case githubActionBenchmark = "github-action-benchmark"
    /// The Bencher Metric Format.
    case bencher
    /// The text format of Prometheus.
    case prometheus

    /// Whether several runs make one history; else there is one run to export.
    public var isHistory: Bool { self == .otava || self == .otavaConfig }
}

/// One number of a summary's row, named for a tool that knows nothing of cells and backends.
struct ExportedFigure: Sendable {
    /// The summary's column.
    var column: String
    var unit: String
    var value: Double
    var low: Double?
    var high: Double?

    /// Without bounds, unless both are numbers.
    private var withFiniteBounds: ExportedFigure {
        var figure = self
        if !((low ?? 0).isFinite && (high ?? 0).isFinite) { (figure.low, figure.high) = (nil, nil) }
        return figure
    }

    /// What is worth a curve over time. Less is better in all of them.
    static func all(of row: SummaryRow) -> [ExportedFigure] {
        guard row.status == .ok else { return [] }
        let time = row.timePerOperation.map { time in
            ExportedFigure(
                column: "time_ns_per_op", unit: "ns/op", value: time, low: row.timePerOperationLow,
                high: row.timePerOperationHigh)
        }
        let ratio = (row.isRatioUnlike ? nil : row.timeRatio).map { ratio in
            ExportedFigure(
                column: "time_ratio", unit: "ratio", value: ratio, low: row.timeRatioLow, high: row.timeRatioHigh)
        }
        let others: [(String, String, Double?, SummaryRow.Bounds)] = [
            ("cpu_ns_per_op", "ns/op", row.cpuPerOperation, .init()),
            ("start_latency_p99_ns", "ns", row.startLatencyP99, row.startLatencyP99Bounds),
            ("allocations_per_op", "allocations/op", row.allocationsPerOperation, .init()),
            ("retained_bytes_per_pending_op", "B/op", row.retainedBytesPerPendingOperation, .init()),
        ]
        let all =
            [time, ratio].compactMap { $0 }
            + others.compactMap { column, unit, value, bounds in
                value.map {
                    ExportedFigure(column: column, unit: unit, value: $0, low: bounds.low, high: bounds.high)
                }
            }
        // What no other tool reads is left out: a figure so small that turned over it is infinite, say.
        return all.filter(\.value.isFinite).map(\.withFiniteBounds)
    }
}

extension SummaryRow {
    /// Cell, backend and class as one name.
    var exportedName: String {
        ([cellID, backend.rawValue] + (operationClass.isEmpty ? [] : [operationClass])).joined(separator: " ")
    }
}
