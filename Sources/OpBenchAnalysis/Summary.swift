import Glibc
import OpBenchModel

/// Summarises the rows of samples: one row per run, cell, backend and class, in the order in which they first appear.
///
/// Only samples with status `ok` give figures, and a figure that no sample reports stays nil. Figures are aggregated as
/// their metric declares (medians, and the greatest of peaks). Intervals are of 95 %.
///
/// - Parameters:
///   - rows: rows of `samples.csv`, in any order.
///   - baseline: the backend that `time_ratio` compares with, block by block, or a form of it on the same axis.
///   - side: which of two compared builds to summarise; empty for runs that compare none.
public func summarize(
    _ rows: [SampleRow], ratioTo baseline: BackendID = .dispatch, side: String = ""
) -> [SummaryRow] {
    struct Key: Hashable {
        var runID: String
        var cellID: String
        var backend: BackendID
    }
    var order: [Key] = []
    // By their places: rows are large, and may be millions.
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
    return order.flatMap { key in
        var baselineKey = key
        baselineKey.backend = denominators[ofBaseline(key)]!.of(samples[key]!.axis)
        return samples[key]!.summaryRows(comparedWith: samples[baselineKey])
    }
}

extension BackendSamples {
    fileprivate func summaryRows(comparedWith baseline: BackendSamples?) -> [SummaryRow] {
        var quality = quality
        quality.hasTwoModes = haveTwoModes(Array(timePerOperation().values))
        return classes.map { operationClass in
            var row = SummaryRow(
                runID: example.runID, workload: example.workload, cellID: example.cellID, backend: example.backend,
                operationClass: operationClass, status: status,
                samples: sampleCount(operationClass: operationClass), parameters: example.parameters)
            row.side = example.side
            row.quality = quality
            row.flags = flags
            addThroughput(to: &row)
            if operationClass.isEmpty, let baseline { addRatio(to: &row, against: baseline) }
            addCosts(to: &row)
            addLatencies(to: &row)
            addMemory(to: &row)
            addCounts(to: &row)
            return row
        }
    }

    // MARK: From throughput samples

    private func addThroughput(to row: inout SummaryRow) {
        let times = figures(.time, stat: "total", phase: "total", operationClass: row.operationClass)
            .filter { $0.operations > 0 }.map { $0.value / Double($0.operations) }
        row.timePerOperation = median(times)
        let bounds = bounds(of: times)
        (row.timePerOperationLow, row.timePerOperationHigh) = (bounds.low, bounds.high)
        let rates = figures(
            .operationThroughput, stat: "rate", phase: "total", operationClass: row.operationClass
        ).map(\.value)
        row.operationsPerSecond = median(rates)
        let ofRates = self.bounds(of: rates)
        (row.operationsPerSecondLow, row.operationsPerSecondHigh) = (ofRates.low, ofRates.high)
        row.itemsPerSecond = value(.itemThroughput, "rate", phase: "total", for: row)
        row.makespanNanoseconds = perRound(.time, phase: "makespan", for: row)
        row.schedulingEfficiency = value(.schedulingEfficiency, "mean", phase: "makespan", for: row)
        row.makespanRatio = value(.makespanRatio, "total", phase: "makespan", for: row)
        row.cancelPerOperation = perOperation(.time, phase: "cancel", for: row)
        row.releasePerOperation = perOperation(.releaseTime, phase: "released", for: row)
        row.releaseFaultsPerOperation = perOperation(.pageFaults, phase: "released", for: row)
    }

    /// The baseline compared with itself is 1 by definition.
    private func addRatio(to row: inout SummaryRow, against baseline: BackendSamples) {
        let own = timePerOperation()
        let other = baseline.timePerOperation()
        let logarithms = own.keys.sorted().compactMap { block in
            other[block].map { log(own[block]! / $0) }
        }.filter(\.isFinite)
        guard let centre = hodgesLehmann(logarithms) else { return }
        row.timeRatio = exp(centre)
        row.ratioTo = baseline.example.backend
        row.isRatioUnlike =
            row.backend != row.ratioTo
            && (max(quality.unpromised, baseline.quality.unpromised) > 0 || isAcross(baseline))
        let interval = hodgesLehmannInterval(of: logarithms)
        row.timeRatioLow = interval.map { exp($0.lowerBound) }
        row.timeRatioHigh = interval.map { exp($0.upperBound) }
    }

    /// Total time ÷ operations of each block.
    private func timePerOperation() -> [Int: Double] {
        let times = figures(.time, stat: "total", phase: "total").filter { $0.value > 0 && $0.operations > 0 }
        return Dictionary(times.map { ($0.block, $0.value / Double($0.operations)) }) { $1 }
    }

    private func addCosts(to row: inout SummaryRow) {
        row.cpuPerOperation = perOperation(.cpuTime, phase: "total", for: row)
        row.voluntarySwitchesPerOperation = perOperation(.voluntarySwitches, phase: "total", for: row)
        row.involuntarySwitchesPerOperation = perOperation(.involuntarySwitches, phase: "total", for: row)
        row.pageFaultsPerOperation = perOperation(.pageFaults, phase: "total", for: row)
    }

    // MARK: From the other kinds of sample

    private func addLatencies(to row: inout SummaryRow) {
        row.arrivalRate = value(.arrivalRate, "rate", for: row)
        row.completionRate = value(.completionRate, "rate", for: row)
        row.capacity = value(.capacity, "rate", for: row)
        // These latencies would only say how long the samples lasted.
        if quality.isOverloaded, row.completionRate != nil { return }
        addLatency(to: &row, .startLatency, "p50", \.startLatencyP50, \.startLatencyP50Bounds)
        addLatency(to: &row, .startLatency, "p90", \.startLatencyP90)
        addLatency(to: &row, .startLatency, "p99", \.startLatencyP99, \.startLatencyP99Bounds)
        addLatency(to: &row, .startLatency, "p99.9", \.startLatencyP999)
        addLatency(to: &row, .startLatency, "max", \.startLatencyMax)
        addLatency(to: &row, .endLatency, "p50", \.endLatencyP50, \.endLatencyP50Bounds)
        addLatency(to: &row, .endLatency, "p99", \.endLatencyP99, \.endLatencyP99Bounds)
        addLatency(to: &row, .submitLatency, "p50", \.submitLatencyP50, \.submitLatencyP50Bounds)
        addLatency(to: &row, .submitLatency, "p99", \.submitLatencyP99, \.submitLatencyP99Bounds)
        addLatency(to: &row, .intendedLatency, "p50", \.intendedLatencyP50, \.intendedLatencyP50Bounds)
        addLatency(to: &row, .intendedLatency, "p99", \.intendedLatencyP99, \.intendedLatencyP99Bounds)
        addLatency(to: &row, .intendedLatency, "p99.9", \.intendedLatencyP999)
        addLatency(to: &row, .serviceLatency, "p50", \.serviceLatencyP50, \.serviceLatencyP50Bounds)
        addLatency(to: &row, .serviceLatency, "p99", \.serviceLatencyP99, \.serviceLatencyP99Bounds)
        addLatency(to: &row, .serviceLatency, "p99.9", \.serviceLatencyP999)
        addLatency(to: &row, .submitLag, "p99", \.submitLagP99)
        addLatency(to: &row, .notifyLatency, "p50", \.notifyLatencyP50)
        addLatency(to: &row, .notifyLatency, "p99", \.notifyLatencyP99)
        addLatency(to: &row, .quiesceTime, "p99", \.quiesceP99)
        addLatency(to: &row, .resumeToStart, "p99", \.resumeToStartP99)
        row.sustainedRate = value(.sustainedRate, "rate", for: row)
        row.selfPerturbation = value(.selfPerturbation, "p50", for: row)
    }

    /// - Parameter bounds: where the interval goes; nil for none.
    private func addLatency(
        to row: inout SummaryRow, _ metric: Metric, _ stat: String, _ latency: WritableKeyPath<SummaryRow, Double?>,
        _ bounds: WritableKeyPath<SummaryRow, SummaryRow.Bounds>? = nil
    ) {
        let values = figures(metric, stat: stat, operationClass: row.operationClass).map(\.value)
        row[keyPath: latency] = aggregate(values, metric.aggregation(ofStat: stat))
        if let bounds { row[keyPath: bounds] = self.bounds(of: values) }
    }

    private func addMemory(to row: inout SummaryRow) {
        row.futexCallsPerOperation = perOperation(.futexCalls, phase: "total", for: row)
        row.threadsCreated = value(.threadsCreated, "total", for: row)
        row.allocationsPerOperation = perOperation(.allocations, phase: "total", for: row)
        row.allocatedBytesPerOperation = perOperation(.allocatedBytes, phase: "total", for: row)
        row.retainedBytesPerPendingOperation = perOperation(.retainedBytes, phase: "mark:pending", for: row)
        row.unreleasedBytes = value(.unreleasedBytes, "total", phase: "mark:released", for: row)
        row.peakResidentBytes = value(.peakResident, "max", for: row)
    }

    private func addCounts(to row: inout SummaryRow) {
        row.inversions = perRound(.inversions, for: row)
        row.startsAfterSuspend = perRound(.startsAfterSuspend, for: row)
    }

    // MARK: Figures of several samples as one

    private func value(_ metric: Metric, _ stat: String, phase: String = "", for row: SummaryRow) -> Double? {
        aggregate(
            figures(metric, stat: stat, phase: phase, operationClass: row.operationClass).map(\.value),
            metric.aggregation(ofStat: stat))
    }

    /// The 95 % interval of the median of several samples' figures.
    private func bounds(of values: [Double]) -> SummaryRow.Bounds {
        let interval = medianInterval(of: values)
        return SummaryRow.Bounds(low: interval?.lowerBound, high: interval?.upperBound)
    }

    private func perOperation(_ metric: Metric, phase: String, for row: SummaryRow) -> Double? {
        let figures = figures(metric, stat: "total", phase: phase, operationClass: row.operationClass)
        return aggregate(
            figures.filter { $0.operations > 0 }.map { $0.value / Double($0.operations) }, metric.aggregation)
    }

    /// A sample repeats the plan in rounds until it lasts long enough; one round is what all samples have in common.
    private func perRound(_ metric: Metric, phase: String = "", for row: SummaryRow) -> Double? {
        let rounds = Dictionary(figures(.rounds, stat: "total").map { ($0.sampleID, $0.value) }) { $1 }
        let figures = figures(metric, stat: "total", phase: phase, operationClass: row.operationClass)
        return aggregate(figures.map { $0.value / max(1, rounds[$0.sampleID] ?? 1) }, metric.aggregation)
    }

    private func aggregate(_ values: [Double], _ aggregation: Metric.Aggregation) -> Double? {
        switch aggregation {
        case .median: median(values)
        case .maximum: values.max()
        }
    }
}
