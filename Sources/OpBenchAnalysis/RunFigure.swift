import Glibc
import OpBenchModel

/// One figure of a run, estimated from all its samples.
public struct RunFigure: Sendable, Hashable {
    public var name: FigureName
    /// The median of the samples, or the maximum if the metric declares it; per operation or round if it is counted so.
    public var value: Double
    /// The 95 % interval; nil for fewer than six samples, and for a maximum.
    public var low: Double?
    public var high: Double?
    /// The number of samples.
    public var samples: Int

    public init(name: FigureName, value: Double, low: Double? = nil, high: Double? = nil, samples: Int) {
        self.name = name
        self.value = value
        self.low = low
        self.high = high
        self.samples = samples
    }

    /// Every figure of a run that has a direction, sorted by name, and the ratios to the baseline as `summarize`
    /// computes them.
    ///
    /// - Parameter rows: rows of one run, in any order, of one side or two. Only samples with status `ok` count.
    public static func all(of rows: [SampleRow]) -> [RunFigure] {
        let sides = Set(rows.map(\.side)).sorted().map { side in (side, CellFigures(rows: rows, side: side)) }
        return sides.flatMap { side, figures in
            figures.series.compactMap { key, series in
                RunFigure(
                    key.name(cellID: series.cellID, side: side), of: series.values)
            }
        }.sorted { $0.name < $1.name }
    }

    /// Nil if there are no values.
    private init?(_ name: FigureName, of values: [Double]) {
        self.init(name: name, value: 0, samples: values.count)
        if BaselineRatio.names.contains(name.metric) {
            let logarithms = values.filter { $0 > 0 }.map { log($0) }.filter(\.isFinite)
            guard let centre = hodgesLehmann(logarithms) else { return nil }
            value = exp(centre)
            setInterval(hodgesLehmannInterval(of: logarithms).map { exp($0.lowerBound)...exp($0.upperBound) })
        } else if Metric.named(name.metric)?.aggregation(ofStat: name.stat) == .maximum {
            guard let greatest = values.max() else { return nil }
            value = greatest
        } else {
            guard let middle = median(values) else { return nil }
            value = middle
            setInterval(medianInterval(of: values))
        }
    }

    private mutating func setInterval(_ interval: ClosedRange<Double>?) {
        (low, high) = (interval?.lowerBound, interval?.upperBound)
    }
}
