import OpBenchModel

/// A figure of the summary, as the page shows it.
struct PageFigure: Sendable {
    /// The column's name in CSV files.
    let name: String
    let label: String
    let unit: TrendSeries.Unit
    /// nil for a figure that is neither better high nor low.
    let better: TrendSeries.Better?
    /// One sentence for people.
    let meaning: String
    /// Whether the table shows it unless told otherwise.
    let isShown: Bool
    let value: @Sendable (SummaryRow) -> Double?
    let low: (@Sendable (SummaryRow) -> Double?)?
    let high: (@Sendable (SummaryRow) -> Double?)?

    init(
        _ name: String, _ label: String, _ unit: TrendSeries.Unit, better: TrendSeries.Better? = .lower,
        isShown: Bool = false, _ meaning: String, value: @escaping @Sendable (SummaryRow) -> Double?,
        low: (@Sendable (SummaryRow) -> Double?)? = nil, high: (@Sendable (SummaryRow) -> Double?)? = nil
    ) {
        (self.name, self.label, self.unit, self.better, self.isShown) = (name, label, unit, better, isShown)
        (self.meaning, self.value, self.low, self.high) = (meaning, value, low, high)
    }

    static let all: [PageFigure] = times + latencies + costs + memory + counts

    private static let times: [PageFigure] = [
        .init(
            "time_ns_per_op", "time/op", .nanoseconds, isShown: true,
            "Wall time of the whole plan per operation: the median of the samples, with its 95 % interval.",
            value: { $0.timePerOperation }, low: { $0.timePerOperationLow }, high: { $0.timePerOperationHigh }),
        .init(
            "time_ratio", "time ÷ baseline", .ratio, isShown: true,
            "Time per operation ÷ that of the baseline backend: the middle of the ratios within each block, with its "
                + "95 % interval. Below 1 is faster. None where one of the two does not promise what the shape is about.",
            value: { $0.isRatioUnlike ? nil : $0.timeRatio }, low: { $0.hasRatioInterval ? $0.timeRatioLow : nil },
            high: { $0.hasRatioInterval ? $0.timeRatioHigh : nil }),
        .init(
            "throughput_ops_per_s", "operations/s", .perSecond, better: .higher, "Operations ÷ total time.",
            value: { $0.operationsPerSecond }, low: { $0.operationsPerSecondLow }, high: { $0.operationsPerSecondHigh }),
        .init(
            "throughput_items_per_s", "items/s", .perSecond, better: .higher, "Items of work ÷ total time.",
            value: { $0.itemsPerSecond }),
        .init(
            "scheduling_efficiency", "efficiency", .ratio, better: .higher,
            "What work and span allow ÷ the makespan; 1 is a perfect schedule at no cost.",
            value: { $0.schedulingEfficiency }),
        .init(
            "makespan_ratio", "makespan ÷ ideal", .ratio, "The makespan ÷ the ideal one, where operations block.",
            value: { $0.makespanRatio }),
        .init(
            "cancel_ns_per_op", "cancel/op", .nanoseconds, "The cancelling calls' time per operation.",
            value: { $0.cancelPerOperation }),
        .init(
            "release_ns_per_op", "release/op", .nanoseconds,
            "Drain and teardown per operation, where all waited at once.", value: { $0.releasePerOperation }),
    ]

    private static let latencies: [PageFigure] = [
        .init(
            "start_latency_p50_ns", "start p50", .nanoseconds, "Ready → start, the median.",
            value: { $0.startLatencyP50 }, low: { $0.startLatencyP50Bounds.low },
            high: { $0.startLatencyP50Bounds.high }),
        .init("start_latency_p90_ns", "start p90", .nanoseconds, "Ready → start.", value: { $0.startLatencyP90 }),
        .init(
            "start_latency_p99_ns", "start p99", .nanoseconds, isShown: true,
            "Ready → start. Where more operations are ready than can run, mostly the wait behind the others.",
            value: { $0.startLatencyP99 }, low: { $0.startLatencyP99Bounds.low },
            high: { $0.startLatencyP99Bounds.high }),
        .init("start_latency_p999_ns", "start p99.9", .nanoseconds, "Ready → start.", value: { $0.startLatencyP999 }),
        .init("start_latency_max_ns", "start max", .nanoseconds, "Ready → start.", value: { $0.startLatencyMax }),
        .init(
            "end_latency_p50_ns", "end p50", .nanoseconds, "Ready → end.", value: { $0.endLatencyP50 },
            low: { $0.endLatencyP50Bounds.low }, high: { $0.endLatencyP50Bounds.high }),
        .init(
            "end_latency_p99_ns", "end p99", .nanoseconds, "Ready → end.", value: { $0.endLatencyP99 },
            low: { $0.endLatencyP99Bounds.low }, high: { $0.endLatencyP99Bounds.high }),
        .init(
            "submit_latency_p50_ns", "submit p50", .nanoseconds, "Just before the submitting call → start.",
            value: { $0.submitLatencyP50 }, low: { $0.submitLatencyP50Bounds.low },
            high: { $0.submitLatencyP50Bounds.high }),
        .init(
            "submit_latency_p99_ns", "submit p99", .nanoseconds, "Just before the submitting call → start.",
            value: { $0.submitLatencyP99 }, low: { $0.submitLatencyP99Bounds.low },
            high: { $0.submitLatencyP99Bounds.high }),
        .init(
            "intended_latency_p50_ns", "intended p50", .nanoseconds, "Planned arrival → end.",
            value: { $0.intendedLatencyP50 }, low: { $0.intendedLatencyP50Bounds.low },
            high: { $0.intendedLatencyP50Bounds.high }),
        .init(
            "intended_latency_p99_ns", "intended p99", .nanoseconds, "Planned arrival → end.",
            value: { $0.intendedLatencyP99 }, low: { $0.intendedLatencyP99Bounds.low },
            high: { $0.intendedLatencyP99Bounds.high }),
        .init(
            "service_latency_p50_ns", "service p50", .nanoseconds, "Just before the submitting call → end.",
            value: { $0.serviceLatencyP50 }, low: { $0.serviceLatencyP50Bounds.low },
            high: { $0.serviceLatencyP50Bounds.high }),
        .init(
            "service_latency_p99_ns", "service p99", .nanoseconds, "Just before the submitting call → end.",
            value: { $0.serviceLatencyP99 }, low: { $0.serviceLatencyP99Bounds.low },
            high: { $0.serviceLatencyP99Bounds.high }),
        .init(
            "sustained_rate_per_s", "holds", .perSecond, better: .higher,
            "The highest rate of arrivals that keeps the workload's bound.", value: { $0.sustainedRate }),
        .init(
            "arrival_rate_per_s", "arrive", .perSecond, better: nil,
            "Operations that arrived, from the first arrival of an open loop to the last.", value: { $0.arrivalRate }),
        .init(
            "completion_rate_per_s", "end", .perSecond, better: nil,
            "Operations that ended in that time. Where most samples stayed behind, the row has no latencies.",
            value: { $0.completionRate }),
        .init(
            "capacity_per_s", "capacity", .perSecond, better: .higher,
            "The highest rate of arrivals that the backend keeps up with, where the load is a part of it.",
            value: { $0.capacity }),
        .init(
            "notify_latency_p50_ns", "notify p50", .nanoseconds, "End → completion block entered.",
            value: { $0.notifyLatencyP50 }),
        .init(
            "notify_latency_p99_ns", "notify p99", .nanoseconds, "End → completion block entered.",
            value: { $0.notifyLatencyP99 }),
        .init(
            "quiesce_p99_ns", "quiesce p99", .nanoseconds, "Suspend returned → the last start within the hold.",
            value: { $0.quiesceP99 }),
        .init(
            "resume_to_start_p99_ns", "resume p99", .nanoseconds, "Resume called → first start.",
            value: { $0.resumeToStartP99 }),
    ]

    private static let costs: [PageFigure] = [
        .init(
            "cpu_ns_per_op", "CPU/op", .nanoseconds, isShown: true, "CPU time of the process per operation.",
            value: { $0.cpuPerOperation }),
        .init(
            "voluntary_switches_per_op", "sleeps/op", .count, "Threads that went to sleep, per operation.",
            value: { $0.voluntarySwitchesPerOperation }),
        .init(
            "involuntary_switches_per_op", "preemptions/op", .count, "Threads preempted, per operation.",
            value: { $0.involuntarySwitchesPerOperation }),
        .init(
            "page_faults_per_op", "page faults/op", .count, "Page faults per operation.",
            value: { $0.pageFaultsPerOperation }),
        .init(
            "futex_calls_per_op", "futex calls/op", .count, "Calls of futex(2) per operation.",
            value: { $0.futexCallsPerOperation }),
        .init(
            "threads_created", "threads made", .count, "Threads that the backend created.",
            value: { $0.threadsCreated }),
    ]

    private static let memory: [PageFigure] = [
        .init(
            "allocations_per_op", "allocs/op", .count, isShown: true, "Mallocs per operation.",
            value: { $0.allocationsPerOperation }),
        .init(
            "allocated_bytes_per_op", "bytes/op", .bytes, "Bytes requested from malloc per operation.",
            value: { $0.allocatedBytesPerOperation }),
        .init(
            "retained_bytes_per_pending_op", "held/pending", .bytes, isShown: true,
            "Bytes in use per operation when all are submitted and none has started.",
            value: { $0.retainedBytesPerPendingOperation }),
        .init(
            "unreleased_bytes", "unreleased", .bytes, "Bytes still in use when everything was released.",
            value: { $0.unreleasedBytes }),
        .init(
            "peak_resident_bytes", "peak memory", .bytes, "The process's greatest resident size.",
            value: { $0.peakResidentBytes }),
    ]

    private static let counts: [PageFigure] = [
        .init(
            "inversions", "inversions", .count, "Operations of one round that started past a higher ready one.",
            value: { $0.inversions }),
        .init(
            "starts_after_suspend", "late starts", .count, "Starts of one round after suspend had returned.",
            value: { $0.startsAfterSuspend }),
    ]
}

extension SummaryRow {
    /// False for the baseline, whose ratio to itself is 1 by definition.
    fileprivate var hasRatioInterval: Bool { backend != ratioTo && !isRatioUnlike }
}
