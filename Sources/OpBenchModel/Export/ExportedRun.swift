/// A recorded run, ready for export to other tools.
public struct ExportedRun: Sendable {
    public var runID: String
    /// ISO 8601, UTC.
    public var startedUTC: String
    public var commit: String
    public var summary: [SummaryRow]
    /// The throughput of every sample behind a backend's row of the summary, by block; empty if no sample reports it.
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

/// The export formats.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// The format of JMH's `-rf json`.
    case jmh
    /// The format of github-action-benchmark's tool `customSmallerIsBetter`.
    case githubActionBenchmark = "github-action-benchmark"
    /// The Bencher Metric Format.
    case bencher
    /// The text format of Prometheus.
    case prometheus
}

extension Figure {
    /// The unit as other tools write it: `ns/op`, `allocations/op`.
    var exportedUnit: String {
        let unit =
            switch self.unit {
            case .nanoseconds, .bytes, .perSecond: unit.rawValue
            case .count: metric.name
            case .ratio: "ratio"
            }
        return unit + (basis == .operation && !isRatio ? "/op" : "")
    }
}

extension SummaryRow {
    /// Cell, backend and class as one name.
    var exportedName: String {
        ([cellID, backend.rawValue] + (operationClass.isEmpty ? [] : [operationClass])).joined(separator: " ")
    }

    /// The figures worth a curve over time, without those that other tools cannot read: figures so small that their
    /// inverse is infinite, for example.
    var exportedFigures: [(figure: Figure, estimate: Estimate)] {
        guard status == .ok else { return [] }
        return Figure.tabled.filter { $0.exportedName != nil }.compactMap { figure in
            var estimate = comparable(figure)
            guard estimate.value?.isFinite == true else { return nil }
            if ![estimate.low, estimate.high].allSatisfy({ $0?.isFinite != false }) {
                (estimate.low, estimate.high) = (nil, nil)
            }
            return (figure, estimate)
        }
    }
}
