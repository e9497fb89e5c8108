import Glibc
import OpBenchModel

/// Measures the differences between equal sides: the smallest meaningful difference of a figure on a host.
public enum NoiseFloors {
    /// A gate that fails has at least this many blocks; the floor is for comparisons of this size.
    static let blocksOfComparison = FigureRule.standardMinBlocks
    /// Fewer runs do not show how runs drift apart.
    public static let leastRuns = 3
    private static let draws = 1000
    /// Equal sides differ by more than the floor in one of a hundred comparisons.
    private static let quantile = 0.99

    /// All floors of a host.
    ///
    /// - Parameters:
    ///   - runs: the rows of the host's runs, each of one build against itself.
    ///   - ofOneBuild: the runs among them of the build in question. Runs of other builds may really differ, so only
    ///     these show how runs drift apart.
    public static func of(_ host: HostKind, runs: [[SampleRow]], ofOneBuild: [[SampleRow]]) -> [NoiseFloorRow] {
        (paired(runs) + unpaired(ofOneBuild) + counts(ofOneBuild)).map { row in
            var row = row
            row.host = host
            return row
        }
    }

    /// Floors for two interleaved builds, from runs of one build against itself.
    ///
    /// For every figure, comparisons of 15 blocks are drawn from the recorded ones, each block with a random sign,
    /// because only the names distinguish the sides. The floor is the bound that 99 % of their Hodges–Lehmann estimates
    /// stay below.
    ///
    /// Runs of several layouts give two floors. A comparison of layouts has another in each block: it draws 15 of their
    /// blocks. A comparison of two programs has one layout a side in all its blocks: it draws one, with the mean of its
    /// blocks, and adds the estimate of 15 blocks of one layout.
    ///
    /// - Parameter runs: the rows of one or more runs with the sides `base` and `head`.
    static func paired(_ runs: [[SampleRow]]) -> [NoiseFloorRow] {
        var ofBlocks: [CellFigures.Key: [Double]] = [:]
        var ofLayouts: [CellFigures.Key: [Double]] = [:]
        var ofTheirBlocks: [CellFigures.Key: [Double]] = [:]
        var examples: [CellFigures.Key: (cellID: String, runs: Int)] = [:]
        for rows in runs {
            let (base, head) = (CellFigures(rows: rows, side: "base"), CellFigures(rows: rows, side: "head"))
            for (key, series) in base.series where isMeasured(key) {
                guard let other = head.series[key] else { continue }
                let pairs = series.pairs(with: other).filter { $0.base > 0 && $0.head > 0 }
                let differences = pairs.map { log($0.head / $0.base) }
                if series.layoutOfBlock.isEmpty {
                    ofBlocks[key, default: []] += differences
                } else {
                    let layouts = Dictionary(grouping: zip(pairs.map(\.unit), differences), by: \.0).values.map {
                        $0.map(\.1)
                    }
                    ofLayouts[key, default: []] += layouts.map { mean($0) }
                    ofTheirBlocks[key, default: []] += differences
                    ofBlocks[key, default: []] += layouts.flatMap(deviations)
                }
                examples[key, default: (series.cellID, 0)].runs += 1
            }
        }
        let enough = { (values: [Double]) in values.count >= minimumForInterval }
        ofLayouts = ofLayouts.filter { enough($0.value) }
        let paired = rows(.paired, ofBlocks.filter { enough($0.value) }, examples) { key, values in
            pairedFloor(values, layouts: ofLayouts[key] ?? [], seed: SplitMix64.seed(from: "\(key)"))
        }
        return paired
            + rows(.layouts, ofTheirBlocks.filter { ofLayouts[$0.key] != nil }, examples) {
                pairedFloor($1, seed: SplitMix64.seed(from: "\($0)"))
            }
    }

    /// - Parameters:
    ///   - logarithms: the differences of the units that a comparison has 15 of.
    ///   - layouts: the differences of pairs of layouts, of which a comparison has one; empty for none.
    static func pairedFloor(_ logarithms: [Double], layouts: [Double] = [], seed: UInt64) -> Double {
        var generator = SplitMix64(seed: seed)
        func draw(_ values: [Double]) -> Double {
            let drawn = values[Int.random(in: values.indices, using: &generator)]
            return Bool.random(using: &generator) ? drawn : -drawn
        }
        let estimates = (0..<draws).map { _ in
            (hodgesLehmann((0..<blocksOfComparison).map { _ in draw(logarithms) })!
                + (layouts.isEmpty ? 0 : draw(layouts))).magnitude
        }.sorted()
        return exp(estimates[Int(quantile * Double(draws)) - 1]) - 1
    }

    /// The distances of a layout's blocks from their mean, made as long as those from the true mean are.
    private static func deviations(_ values: [Double]) -> [Double] {
        guard values.count > 1 else { return [] }
        let (centre, count) = (mean(values), Double(values.count))
        return values.map { ($0 - centre) * (count / (count - 1)).squareRoot() }
    }

    /// Floors for runs at different times, from several runs of one build: the greatest shift between any two of them.
    ///
    /// - Parameter runs: the rows of runs, each with one build on all its sides; fewer than `leastRuns` give no floors.
    static func unpaired(_ runs: [[SampleRow]]) -> [NoiseFloorRow] {
        var values: [CellFigures.Key: [[Double]]] = [:]
        var examples: [CellFigures.Key: (cellID: String, runs: Int)] = [:]
        for rows in runs {
            var ofRun: [CellFigures.Key: [Double]] = [:]
            for side in Set(rows.map(\.side)).sorted() {
                for (key, series) in CellFigures(rows: rows, side: side).series where isMeasured(key) {
                    ofRun[key, default: []] += series.values.filter { $0 > 0 }.map { log($0) }
                    examples[key, default: (series.cellID, 0)].runs += side == rows[0].side ? 1 : 0
                }
            }
            for (key, logarithms) in ofRun where logarithms.count >= minimumForInterval {
                values[key, default: []].append(logarithms)
            }
        }
        return rows(.unpaired, values.filter { $0.value.count >= leastRuns }, examples) { _, runs in
            let shifts = runs.indices.flatMap { one in
                runs[..<one].compactMap { hodgesLehmannShift(from: $0, to: runs[one])?.magnitude }
            }
            return exp(shifts.max() ?? 0) - 1
        }
    }

    /// Floors for counts, for which a few samples are enough: the greatest difference between any two samples of one
    /// build, from any side or run.
    static func counts(_ runs: [[SampleRow]]) -> [NoiseFloorRow] {
        var logarithms: [CellFigures.Key: [Double]] = [:]
        var examples: [CellFigures.Key: (cellID: String, runs: Int)] = [:]
        for rows in runs {
            for side in Set(rows.map(\.side)).sorted() {
                for (key, series) in CellFigures(rows: rows, side: side).series where series.slack != nil {
                    logarithms[key, default: []] += series.values.filter { $0 > 0 }.map { log($0) }
                    examples[key, default: (series.cellID, 0)].runs += side == rows[0].side ? 1 : 0
                }
            }
        }
        let enough = logarithms.filter { $0.value.count >= minimumForInterval }
        return ComparisonKind.allCases.flatMap { kind in
            rows(kind, enough, examples) { _, values in exp(values.max()! - values.min()!) - 1 }
        }
    }

    /// Whether the figure varies and has a direction.
    private static func isMeasured(_ key: CellFigures.Key) -> Bool {
        BaselineRatio.names.contains(key.metric) || !(Metric.named(key.metric)?.isDeterministic ?? true)
    }

    private static func rows<Values: Collection>(
        _ kind: ComparisonKind, _ values: [CellFigures.Key: Values],
        _ examples: [CellFigures.Key: (cellID: String, runs: Int)], floor: (CellFigures.Key, Values) -> Double
    ) -> [NoiseFloorRow] {
        values.keys.sorted().map { key in
            let example = examples[key]!
            return NoiseFloorRow(
                comparison: kind, figure: key.name(cellID: example.cellID), noiseFloor: floor(key, values[key]!),
                runs: example.runs,
                blocks: values[key]!.reduce(0) { $0 + (($1 as? [Double])?.count ?? 1) })
        }
    }
}

/// A lookup table of the measured floors.
public struct KnownNoiseFloors: Sendable {
    private struct Place: Hashable {
        var comparison: ComparisonKind
        var fields: [String]
    }
    private var floors: [Place: Double] = [:]

    /// An empty table.
    public init() {}

    /// - Parameters:
    ///   - rows: noise floors of any hosts.
    ///   - host: the host on which a cell was measured, whose floors apply to the cell; nil for a cell that was not
    ///     measured.
    public init(_ rows: [NoiseFloorRow], of host: (_ cellID: String) -> HostKind?) {
        for row in rows where row.host == host(row.cellID) {
            floors[
                Place(
                    comparison: row.comparison,
                    fields: [row.cellID, row.backend.rawValue, row.phase, row.operationClass, row.metric, row.stat])] =
                row.noiseFloor
        }
    }

    /// The floors for a run on one kind of host.
    public init(_ rows: [NoiseFloorRow], of host: HostKind) { self.init(rows) { _ in host } }

    /// The floor of a figure, or nil if it was not measured.
    public func floor(of row: CompareRow, _ comparison: ComparisonKind) -> Double? {
        floors[
            Place(
                comparison: comparison,
                fields: [row.cellID, row.backend.rawValue, row.phase, row.operationClass, row.metric, row.stat])]
    }
}
