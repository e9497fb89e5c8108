import OpBenchModel

/// The uncertainty of a run's cells: how far the ends of their 95 % intervals are from the figures, relative to them.
public enum IntervalWidths {
    /// By cell id, the greatest distance among the ratios to the baseline or, in a cell without any, among the times
    /// per operation. A cell without intervals is left out.
    @Sendable public static func ofRatios(_ rows: [SampleRow]) -> [String: Double] {
        let summary = summarize(rows.filter(isNeeded)).filter(\.operationClass.isEmpty)
        let ratios = greatest(in: summary.filter { $0.backend != $0.ratioTo }, .timeRatio)
        return greatest(in: summary, .time).merging(ratios) { $1 }
    }

    /// Whether `ofRatios` uses this row.
    @Sendable public static func isNeeded(_ row: SampleRow) -> Bool {
        row.phase == "total" || row.metric == Metric.status.name
    }

    private static func greatest(in rows: [SummaryRow], _ figure: Figure) -> [String: Double] {
        var distances: [String: Double] = [:]
        for row in rows {
            let estimate = row[figure]
            guard let value = estimate.value, let low = estimate.low, let high = estimate.high, value > 0 else {
                continue
            }
            distances[row.cellID] = max(max(high - value, value - low) / value, distances[row.cellID] ?? 0)
        }
        return distances
    }
}
