import Glibc
import OpBenchModel

/// Summarises the rows of samples: one row per run, cell, backend and class, in the order in which they first appear.
///
/// Only samples with status `ok` give figures, and a figure that no sample reports stays nil. Figures are aggregated as
/// their metric declares (medians, and the greatest of peaks). Intervals are of 95 %, by bootstrap with a seed drawn
/// from the cell and the backend, so that the same rows always give the same summary.
///
/// - Parameters:
///   - rows: rows of `samples.csv`, in any order.
///   - baseline: the backend that `time_ratio` compares with, block by block.
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
    return order.flatMap { key in
        var baselineKey = key
        baselineKey.backend = baseline
        return samples[key]!.summaryRows(comparedWith: samples[baselineKey])
    }
}

extension BackendSamples {
    fileprivate func summaryRows(comparedWith baseline: BackendSamples?) -> [SummaryRow] {
        classes.map { operationClass in
            var row = SummaryRow(
                runID: example.runID, workload: example.workload, cellID: example.cellID, backend: example.backend,
                operationClass: operationClass, status: status,
                samples: sampleCount(operationClass: operationClass), parameters: example.parameters)
            row.side = example.side
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
        let rates = figures(
            .operationThroughput, stat: "rate", phase: "total", operationClass: row.operationClass
        ).map(\.value)
        row.operationsPerSecond = median(rates)
        let interval = bootstrapInterval(of: rates, seed: seed(for: row), estimate: median)
        row.operationsPerSecondLow = interval?.lowerBound
        row.operationsPerSecondHigh = interval?.upperBound
        row.itemsPerSecond = value(.itemThroughput, "rate", phase: "total", for: row)
        row.makespanSeconds = perRound(.time, phase: "makespan", for: row)
        row.schedulingEfficiency = value(.schedulingEfficiency, "mean", phase: "makespan", for: row)
        row.makespanRatio = value(.makespanRatio, "total", phase: "makespan", for: row)
        row.cancelPerOperation = perOperation(.time, phase: "cancel", for: row).map { $0 * Self.nanoseconds }
        row.releasePerOperation = perOperation(.releaseTime, phase: "released", for: row).map { $0 * Self.nanoseconds }
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
        let interval = bootstrapInterval(of: logarithms, seed: seed(for: row), estimate: hodgesLehmann)
        row.timeRatioLow = interval.map { exp($0.lowerBound) }
        row.timeRatioHigh = interval.map { exp($0.upperBound) }
    }

    /// Total time ÷ operations of each block.
    private func timePerOperation() -> [Int: Double] {
        let times = figures(.time, stat: "total", phase: "total").filter { $0.value > 0 && $0.operations > 0 }
        return Dictionary(times.map { ($0.block, $0.value / Double($0.operations)) }) { $1 }
    }

    private func addCosts(to row: inout SummaryRow) {
        row.cpuPerOperation = perOperation(.cpuTime, phase: "total", for: row).map { $0 * Self.nanoseconds }
        row.voluntarySwitchesPerOperation = perOperation(.voluntarySwitches, phase: "total", for: row)
        row.involuntarySwitchesPerOperation = perOperation(.involuntarySwitches, phase: "total", for: row)
        row.pageFaultsPerOperation = perOperation(.pageFaults, phase: "total", for: row)
    }

    // MARK: From the other kinds of sample

    private func addLatencies(to row: inout SummaryRow) {
        func latency(_ metric: Metric, _ stat: String) -> Double? {
            value(metric, stat, for: row).map { $0 * Self.nanoseconds }
        }
        row.startLatencyP50 = latency(.startLatency, "p50")
        row.startLatencyP90 = latency(.startLatency, "p90")
        row.startLatencyP99 = latency(.startLatency, "p99")
        row.startLatencyP999 = latency(.startLatency, "p99.9")
        row.startLatencyMax = latency(.startLatency, "max")
        row.endLatencyP50 = latency(.endLatency, "p50")
        row.endLatencyP99 = latency(.endLatency, "p99")
        row.submitLatencyP50 = latency(.submitLatency, "p50")
        row.submitLatencyP99 = latency(.submitLatency, "p99")
        row.intendedLatencyP50 = latency(.intendedLatency, "p50")
        row.intendedLatencyP99 = latency(.intendedLatency, "p99")
        row.intendedLatencyP999 = latency(.intendedLatency, "p99.9")
        row.serviceLatencyP50 = latency(.serviceLatency, "p50")
        row.serviceLatencyP99 = latency(.serviceLatency, "p99")
        row.serviceLatencyP999 = latency(.serviceLatency, "p99.9")
        row.submitLagP99 = latency(.submitLag, "p99")
        row.sustainedRate = value(.sustainedRate, "rate", for: row)
        row.notifyLatencyP50 = latency(.notifyLatency, "p50")
        row.notifyLatencyP99 = latency(.notifyLatency, "p99")
        row.selfPerturbation = value(.selfPerturbation, "p50", for: row)
        row.quiesceP99 = latency(.quiesceTime, "p99")
        row.resumeToStartP99 = latency(.resumeToStart, "p99")
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

    private static let nanoseconds = 1e9

    private func value(_ metric: Metric, _ stat: String, phase: String = "", for row: SummaryRow) -> Double? {
        aggregate(
            figures(metric, stat: stat, phase: phase, operationClass: row.operationClass).map(\.value),
            metric.aggregation(ofStat: stat))
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

    private func seed(for row: SummaryRow) -> UInt64 {
        SplitMix64.seed(from: row.cellID + "|" + row.backend.rawValue)
    }
}
