import OpBenchModel

/// How uncertain the cells of a run are.
public enum IntervalWidths {
    /// What is known as well as this is known well enough.
    static let sufficient = 0.01

    /// By cell id the widest 95 % interval of its backends, relative to the figure: of the ratios to the baseline or, where
    /// a cell has none, of the throughputs. A cell whose intervals are all within 1 % is left out, as is one without any.
    @Sendable public static func byCell(_ rows: [SampleRow]) -> [String: Double] {
        let summary = summarize(rows.filter(isNeeded)).filter(\.operationClass.isEmpty)
        let compared = summary.filter { $0.backend != $0.ratioTo }
        let ratios = widest(compared, .timeRatio)
        let rates = widest(summary, .operationThroughput)
        return rates.merging(ratios) { $1 }.filter { $0.value > sufficient }
    }

    /// Whether the widths are made of this row among others.
    @Sendable public static func isNeeded(_ row: SampleRow) -> Bool {
        row.phase == "total" || row.metric == Metric.status.name
    }

    private static func widest(_ rows: [SummaryRow], _ figure: Figure) -> [String: Double] {
        var widths: [String: Double] = [:]
        for row in rows {
            let estimate = row[figure]
            guard let value = estimate.value, let low = estimate.low, let high = estimate.high, value > 0 else {
                continue
            }
            widths[row.cellID] = max((high - low) / value, widths[row.cellID] ?? 0)
        }
        return widths
    }
}
