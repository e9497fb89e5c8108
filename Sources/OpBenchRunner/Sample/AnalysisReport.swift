import Histogram
import OpBenchModel

extension RoundAnalysis {
    /// Adds the figures and histograms of a latency sample.
    func report(rounds: Int, into report: inout SampleReport) {
        let operations = plan.operationCount * rounds
        report.add(.rounds, "total", Double(rounds), operations: operations)
        for key in recorder.sortedKeys {
            guard let histogram = recorder.histograms[key] else { continue }
            let counted = Int(histogram.totalCount)
            let buckets = histogram.buckets
            report.histograms.append(
                .init(
                    stage: key.stage.rawValue, operationClass: key.operationClass,
                    upperBounds: buckets.map(\.upperBound), counts: buckets.map(\.count)))
            for (stat, value) in Self.statistics(of: histogram) {
                report.add(key.stage.metric, stat, value, operationClass: key.operationClass, operations: counted)
            }
            if key.stage == .start, !key.operationClass.isEmpty {
                report.add(
                    .longestWait, "max", Double(histogram.maxRecorded), operationClass: key.operationClass,
                    operations: counted)
            }
        }
        reportClasses(operations: operations, into: &report)
        reportRecorded(into: &report)
        for (name, figures) in keepingUp.sorted(by: { $0.key < $1.key }) { figures.report(name, into: &report) }
        // The program of a replay may itself have had a backlog.
        if plan.replay == nil, keepingUp[""]?.isOverloaded == true { report.flags.append(.overloaded) }
        if plan.storm != nil {
            report.add(.startsAfterSuspend, "total", Double(startsAfterSuspend), operations: operations)
        }
    }

    /// The rates and latencies that the operations of a replay had in the recording.
    private func reportRecorded(into report: inout SampleReport) {
        guard let replay = plan.replay else { return }
        let ends = zip(replay.arrivals, replay.latencies).map { $1 > 0 ? $0 + Int64($1) : .max }
        let recorded = compare(arrivals: replay.arrivals, ends: ends)
        let operations = groups.merging(["": Array(0..<plan.operationCount)]) { $1 }
        for (name, members) in operations.sorted(by: { $0.key < $1.key }) {
            var histogram = Histogram<UInt64>()
            for latency in members.map({ replay.latencies[$0] }) where latency > 0 {
                histogram.record(nanoseconds: Int64(latency))
            }
            let known = Int(histogram.totalCount)
            if known == 0 { continue }
            for (stat, value) in Self.statistics(of: histogram) where ["p50", "p99"].contains(stat) {
                report.add(.recordedLatency, stat, value, operationClass: name, operations: known)
            }
            if let rate = recorded[name]?.rates?.completion {
                report.add(.recordedRate, "rate", rate, operationClass: name, operations: known)
            }
        }
    }

    private func reportClasses(operations: Int, into report: inout SampleReport) {
        guard let planned = plan.classes else { return }
        let isPriority = planned.label == "priority"
        if isPriority { report.add(.inversions, "total", Double(inversions), operations: operations) }
        for index in planned.keys.indices {
            let name = planned.name(index)
            guard let figures = classes[name], figures.operations > 0 else { continue }
            if isPriority {
                report.add(
                    .inversions, "total", Double(figures.inversions), operationClass: name,
                    operations: figures.operations)
                continue
            }
            guard planned.label == "thread_priority" else { continue }
            report.add(
                .cpuShare, "mean", Double(figures.cpuNanoseconds) / Double(max(1, figures.runNanoseconds)),
                operationClass: name, operations: figures.operations)
            report.add(
                .effectiveNice, "mean", Double(figures.niceSum) / Double(figures.operations), operationClass: name,
                operations: figures.operations)
            report.add(
                .effectiveNice, "max", Double(figures.niceMaximum), operationClass: name,
                operations: figures.operations)
        }
    }

    /// Statistics in nanoseconds. A percentile needs so many values that one of them lies beyond it: the 99th percentile
    /// of fewer than 100 values would be their maximum.
    private static func statistics(of histogram: Histogram<UInt64>) -> [(stat: String, value: Double)] {
        let percentiles = [("p50", 50.0, 2), ("p90", 90, 10), ("p99", 99, 100), ("p99.9", 99.9, 1000)]
        return [("mean", histogram.mean)]
            + percentiles.filter { histogram.totalCount >= $0.2 }.map {
                ($0.0, Double(histogram.valueAtPercentile($0.1)))
            } + [("max", Double(histogram.maxRecorded))]
    }
}
