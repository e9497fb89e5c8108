import Glibc
import OpBenchModel

/// The sources of the variance of a backend's total time in one cell, as two interleaved sides show it.
public struct VarianceFinding: Sendable {
    public let cellID: String
    public let backend: BackendID
    public let components: VarianceComponents

    /// The source of most of the variance of all findings together, with its share from 0 to 1: each finding counts
    /// alike. Nil if nothing varies.
    public static func main(
        of findings: [VarianceFinding]
    ) -> (source: VarianceComponents.Source, share: Double)? {
        var shares: [VarianceComponents.Source: Double] = [:]
        var count = 0.0
        for components in findings.map(\.components) {
            let variances = VarianceComponents.Source.allCases.map { (source: $0, components.variance(of: $0) ?? 0) }
            let total = variances.reduce(0) { $0 + $1.1 }
            guard total > 0 else { continue }
            count += 1
            for (source, variance) in variances { shares[source, default: 0] += variance / total }
        }
        return shares.max { $0.value < $1.value }.map { ($0.key, $0.value / count) }
    }

    /// The findings of a run, in order of cells and backends; none for a run without sides.
    public static func all(of rows: [SampleRow]) -> [VarianceFinding] {
        let (base, head) = (
            CellFigures(rows: rows, side: Side.base.rawValue), CellFigures(rows: rows, side: Side.head.rawValue)
        )
        let rounds = Dictionary(grouping: rows.filter { !$0.side.isEmpty }) { [$0.cellID, $0.backend.rawValue] }
            .mapValues(roundVariance)
        return base.series.keys.sorted().compactMap { key in
            guard key.isTotalTime, let series = base.series[key], let other = head.series[key] else { return nil }
            let pairs = series.pairs(with: other)
            // One block of each layout cannot tell layouts from processes.
            guard series.layoutOfBlock.isEmpty || Set(pairs.map(\.unit)).count < pairs.count else { return nil }
            let variance = rounds[[series.cellID, key.backend.rawValue]] ?? nil
            return VarianceComponents(pairs: pairs, roundVariance: variance).map {
                VarianceFinding(cellID: series.cellID, backend: key.backend, components: $0)
            }
        }
    }

    /// The variance that the rounds of a process leave in its mean, on the scale of logarithms: the median over the
    /// processes.
    private static func roundVariance(of rows: [SampleRow]) -> Double? {
        // Both sides at once: samples of one block differ in their ids.
        let samples = BackendSamples(rows: rows)
        return median(
            samples.figures(.roundSpread, stat: "mean", phase: "total").map {
                $0.value * $0.value / samples.rounds(of: $0)
            })
    }
}

extension CellFigures.Key {
    fileprivate var isTotalTime: Bool {
        name.metric == Metric.time.name && name.phase == "total" && name.stat == "total" && name.operationClass.isEmpty
    }
}
