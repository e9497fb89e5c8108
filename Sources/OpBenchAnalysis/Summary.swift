import Glibc
import OpBenchModel

/// Summarises the rows of samples: one row per run, cell, backend and class, in order of first appearance.
///
/// Only samples with status `ok` give figures, and a figure that no sample reports stays nil. Figures are aggregated as
/// their metric declares (medians, and maxima of peaks). Intervals are 95 %.
///
/// - Parameters:
///   - rows: rows of `samples.csv`, in any order.
///   - baseline: the backend that `time_ratio` compares with, block by block, or a form of it on the same axis.
///   - side: the side to summarise; empty for runs without sides.
public func summarize(
    _ rows: [SampleRow], ratioTo baseline: BackendID = .dispatch, side: String = ""
) -> [SummaryRow] {
    struct Key: Hashable {
        var runID: String
        var cellID: String
        var backend: BackendID
    }
    var order: [Key] = []
    // Indices of rows: rows are large, and there may be millions.
    var groups: [Key: [Int]] = [:]
    for (index, row) in rows.enumerated() where row.side == side {
        let key = Key(runID: row.runID, cellID: row.cellID, backend: row.backend)
        if groups[key] == nil { order.append(key) }
        groups[key, default: []].append(index)
    }
    let samples = groups.mapValues { indices in BackendSamples(rows: indices.map { rows[$0] }) }
    func ofBaseline(_ key: Key) -> Key { Key(runID: key.runID, cellID: key.cellID, backend: baseline) }
    var axes: [Key: [BackendID: Axis]] = [:]
    for key in order {
        axes[ofBaseline(key), default: [:]][key.backend] = samples[key]!.isTimed ? samples[key]!.axis : nil
    }
    let denominators = axes.mapValues { Denominator(baseline, $0) }
    let isBusy = Dictionary(grouping: order, by: ofBaseline).mapValues { keys in
        keys.map { samples[$0]!.quality }.areOfBusyMachine
    }
    return order.flatMap { key in
        var baselineKey = key
        baselineKey.backend = denominators[ofBaseline(key)]!.of(samples[key]!.axis)
        return samples[key]!.summaryRows(
            comparedWith: samples[baselineKey], onBusyMachine: isBusy[ofBaseline(key)]!)
    }
}

extension BackendSamples {
    /// - Parameter isBusy: whether the machine was busy during the cell's samples.
    fileprivate func summaryRows(
        comparedWith baseline: BackendSamples?, onBusyMachine isBusy: Bool
    ) -> [SummaryRow] {
        classes.map { operationClass in
            var row = SummaryRow.blank
            (row.runID, row.workload, row.cellID) = (example.runID, example.workload, example.cellID)
            (row.backend, row.side, row.parameters) = (example.backend, example.side, example.parameters)
            (row.operationClass, row.status) = (operationClass, status)
            row.samples = sampleCount(operationClass: operationClass)
            row.quality = quality
            row.flags = flags
            let isOverloaded =
                quality.isOverloaded
                && !figures(.completionRate, stat: "rate", operationClass: operationClass).isEmpty
            for figure in Figure.catalogue where !figure.isRatio && !(isOverloaded && figure.isOfBacklog) {
                row[figure] = estimate(figure, of: operationClass)
            }
            guard operationClass.isEmpty else { return row }
            row.modes = twoModes(of: Array(perOperation(.time).values)) ?? Modes()
            if let baseline { addRatio(to: &row, against: baseline, onBusyMachine: isBusy) }
            return row
        }
    }

    private func estimate(_ figure: Figure, of operationClass: String) -> Estimate {
        let values = figures(
            figure.metric, stat: figure.stat, phase: figure.phase, operationClass: operationClass
        ).map { ($0.value, divisor(of: $0, per: figure.basis)) }.filter { $1 > 0 }.map { $0 / $1 }
        let interval = figure.hasInterval ? medianInterval(of: values) : nil
        let value =
            switch figure.metric.aggregation(ofStat: figure.stat) {
            case .median: median(values)
            case .maximum: values.max()
            }
        return Estimate(value: value, low: interval?.lowerBound, high: interval?.upperBound)
    }

    // MARK: The ratio to the baseline

    /// The baseline's ratio to itself is 1 by definition.
    private func addRatio(to row: inout SummaryRow, against baseline: BackendSamples, onBusyMachine isBusy: Bool) {
        let logarithms = logarithms(of: .time, against: baseline)
        guard let centre = hodgesLehmann(logarithms) else { return }
        row.ratioTo = baseline.example.backend
        row.isRatioUnlike =
            row.backend != row.ratioTo
            && (max(quality.unpromised, baseline.quality.unpromised) > 0 || isAcross(baseline))
        let interval = hodgesLehmannInterval(of: logarithms)
        row[.timeRatio] = Estimate(
            value: exp(centre), low: interval.map { exp($0.lowerBound) }, high: interval.map { exp($0.upperBound) })
        guard isBusy, row.backend != row.ratioTo, let side = interval?.side(of: 0...0) else { return }
        let ofCPUTime = hodgesLehmannInterval(of: self.logarithms(of: .cpuTime, against: baseline))
        row.isRatioOfBusyMachine = ofCPUTime?.side(of: 0...0) != side
    }

    /// The logarithms of the ratios within blocks.
    private func logarithms(of metric: Metric, against baseline: BackendSamples) -> [Double] {
        let (own, other) = (perOperation(metric), baseline.perOperation(metric))
        return own.keys.sorted().compactMap { block in other[block].map { log(own[block]! / $0) } }.filter(\.isFinite)
    }

    /// The total of a time ÷ operations, of each block.
    private func perOperation(_ metric: Metric) -> [Int: Double] {
        let times = figures(metric, stat: "total", phase: "total").filter { $0.value > 0 && $0.operations > 0 }
        return Dictionary(times.map { ($0.block, $0.value / Double($0.operations)) }) { $1 }
    }
}

extension Figure {
    /// Whether the figure only reflects the duration of the samples if operations end more slowly than they arrive.
    fileprivate var isOfBacklog: Bool { metric.kinds == [.latency] && topic != .rate || metric == .sustainedRate }
}
