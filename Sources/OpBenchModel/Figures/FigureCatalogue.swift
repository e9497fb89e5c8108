// Every figure of the summary, in the order of the columns of `summary.csv`.

extension Figure {
    /// All figures, in the order of this file.
    public static let catalogue: [Figure] = [
        time, operationThroughput, itemThroughput, timeRatio, makespan, schedulingEfficiency, makespanRatio, cancelTime,
        releaseTime, releaseFaults, startLatencyP50, startLatencyP90, startLatencyP99, startLatencyP999,
        startLatencyMax, endLatencyP50, endLatencyP99, submitLatencyP50, submitLatencyP99, intendedLatencyP50,
        intendedLatencyP99, intendedLatencyP999, serviceLatencyP50, serviceLatencyP99, serviceLatencyP999, submitLagP99,
        sustainedRate, arrivalRate, completionRate, capacity, notifyLatencyP50, notifyLatencyP99, selfPerturbation,
        cpuTime, voluntarySwitches, involuntarySwitches, pageFaults, futexCalls, threadsCreated, allocations,
        allocatedBytes, retainedBytes, unreleasedBytes, peakResident, inversions, startsAfterSuspend, quiesceP99,
        resumeToStartP99,
    ]
}

// MARK: - Times

extension Figure {
    public static let time = Figure(
        "time_ns_per_op", .time, "total", phase: "total", hasInterval: true, .time, "time/op",
        "Total time per operation: making, submitting and draining it. The median of the samples.",
        column: .init(1, rank: 0, intervalRank: 3), isHeadline: true, exportedName: "operation_time_seconds")
    public static let operationThroughput = Figure(
        "throughput_ops_per_s", .operationThroughput, "rate", phase: "total", hasInterval: true, .time, "operations/s",
        "Operations ÷ total time.")
    public static let itemThroughput = Figure(
        "throughput_items_per_s", .itemThroughput, "rate", phase: "total", .time, "items/s",
        "Items of work ÷ total time; an operation may do several.")
    public static let timeRatio = Figure(
        "time_ratio", .time, "total", phase: "total", isRatio: true, hasInterval: true, .ratio, "time ÷ baseline",
        """
        Time per operation ÷ that of the baseline, `ratio_to`: the median over the blocks of the ratio within each \
        (Hodges and Lehmann's), where drift hits both alike. Below 1 is faster. Says nothing where \
        either has the flag `unpromised`, or the two have different axes.
        """,
        column: .init(2, rank: 1), isHeadline: true, exportedName: "time_ratio")
    public static let makespan = Figure(
        "makespan_ns", .time, "total", phase: "makespan", per: .round, .time, "makespan",
        "Submit and drain of one round.")
    public static let schedulingEfficiency = Figure(
        "scheduling_efficiency", .schedulingEfficiency, "mean", phase: "makespan", .time, "effi\u{AD}ciency",
        """
        In shapes with dependencies and work: max(work ÷ processors, span) ÷ makespan, where the span is \
        the longest path; 1 is a perfect schedule at no cost.
        """,
        column: .init(3, rank: 5, isPart: true))
    public static let makespanRatio = Figure(
        "makespan_ratio", .makespanRatio, "total", phase: "makespan", .time, "makespan ÷ ideal",
        "Makespan ÷ that of a thread for each slot of the limit, where operations block.")
    public static let cancelTime = Figure(
        "cancel_ns_per_op", .time, "total", phase: "cancel", .time, "cancel/op",
        "Time of the cancelling calls per operation to be cancelled.")
    public static let releaseTime = Figure(
        "release_ns_per_op", .releaseTime, "total", phase: "released", .time, "release/op",
        "Time of drain and teardown per operation, where everything waited at once.")
    public static let releaseFaults = Figure(
        "release_page_faults_per_op", .pageFaults, "total", phase: "released", .time, "release faults/op",
        "Page faults of drain and teardown there, per operation.")
}

// MARK: - Latencies

extension Figure {
    public static let startLatencyP50 = Figure(
        "start_latency_p50_ns", .startLatency, "p50", hasInterval: true, .latency, "start p50",
        """
        From ready to the first line of the operation's body, the median. Where more operations are \
        ready than can run, most of it is the wait behind the others (backlog).
        """,
        column: .init(5, rank: 7))
    public static let startLatencyP90 = Figure(
        "start_latency_p90_ns", .startLatency, "p90", .latency, "start p90",
        "From ready to the first line of the operation's body, 90th percentile.")
    public static let startLatencyP99 = Figure(
        "start_latency_p99_ns", .startLatency, "p99", hasInterval: true, .latency, "start p99",
        "From ready to the first line of the operation's body, 99th percentile.",
        column: .init(6, rank: 4), isHeadline: true, exportedName: "start_latency_p99_seconds")
    public static let startLatencyP999 = Figure(
        "start_latency_p999_ns", .startLatency, "p99.9", .latency, "start p99.9",
        "From ready to the first line of the operation's body, 99.9th percentile.")
    public static let startLatencyMax = Figure(
        "start_latency_max_ns", .startLatency, "max", .latency, "start max",
        "From ready to the first line of the operation's body, the longest of all samples.")
    public static let endLatencyP50 = Figure(
        "end_latency_p50_ns", .endLatency, "p50", hasInterval: true, .latency, "end p50",
        "From ready to the end of the body, the median.")
    public static let endLatencyP99 = Figure(
        "end_latency_p99_ns", .endLatency, "p99", hasInterval: true, .latency, "end p99",
        "From ready to the end of the body, 99th percentile.")
    public static let submitLatencyP50 = Figure(
        "submit_latency_p50_ns", .submitLatency, "p50", hasInterval: true, .latency, "submit p50",
        "From just before the submitting call to the first line of the body, the median.")
    public static let submitLatencyP99 = Figure(
        "submit_latency_p99_ns", .submitLatency, "p99", hasInterval: true, .latency, "submit p99",
        "From just before the submitting call to the first line of the body, 99th percentile.")
    public static let intendedLatencyP50 = Figure(
        "intended_latency_p50_ns", .intendedLatency, "p50", hasInterval: true, .latency, "intended p50",
        """
        In an open loop: from the instant at which the plan has the operation arrive, late or not, to \
        its end, the median.
        """,
        column: .init(9, rank: 6))
    public static let intendedLatencyP99 = Figure(
        "intended_latency_p99_ns", .intendedLatency, "p99", hasInterval: true, .latency, "intended p99",
        """
        In an open loop: from the instant at which the plan has the operation arrive, late or not, to \
        its end, 99th percentile.
        """,
        column: .init(10, rank: 4))
    public static let intendedLatencyP999 = Figure(
        "intended_latency_p999_ns", .intendedLatency, "p99.9", .latency, "intended p99.9",
        """
        In an open loop: from the instant at which the plan has the operation arrive, late or not, to \
        its end, 99.9th percentile.
        """)
    public static let serviceLatencyP50 = Figure(
        "service_latency_p50_ns", .serviceLatency, "p50", hasInterval: true, .latency, "service p50",
        "In an open loop: from the submitting call to the operation's end, the median.",
        column: .init(7, rank: 10))
    public static let serviceLatencyP99 = Figure(
        "service_latency_p99_ns", .serviceLatency, "p99", hasInterval: true, .latency, "service p99",
        "In an open loop: from the submitting call to the operation's end, 99th percentile.",
        column: .init(8, rank: 9))
    public static let serviceLatencyP999 = Figure(
        "service_latency_p999_ns", .serviceLatency, "p99.9", .latency, "service p99.9",
        "In an open loop: from the submitting call to the operation's end, 99.9th percentile.")
    public static let submitLagP99 = Figure(
        "submit_lag_p99_ns", .submitLag, "p99", .latency, "submit lag p99",
        "How late the submitting thread was in an open loop, 99th percentile.")
}

// MARK: - Rates of open loops

extension Figure {
    public static let sustainedRate = Figure(
        "sustained_rate_per_s", .sustainedRate, "rate", .rate, "holds",
        "The highest rate of arrivals found that keeps the workload's bound.",
        column: .init(13, rank: 5))
    public static let arrivalRate = Figure(
        "arrival_rate_per_s", .arrivalRate, "rate", .rate, "arrive",
        "In an open loop: operations that arrived, per second, from the first arrival to the last.",
        column: .init(11, rank: 1))
    public static let completionRate = Figure(
        "completion_rate_per_s", .completionRate, "rate", .rate, "end",
        """
        Operations that ended in that time, per second. With the flag `overloaded` most samples stayed \
        behind, and the row has no latencies: they would be how long the samples lasted.
        """,
        column: .init(12, rank: 1))
    public static let capacity = Figure(
        "capacity_per_s", .capacity, "rate", .rate, "capacity",
        "The highest rate of arrivals that the backend keeps up with, where `load` is a part of it.")
}

// MARK: - Notices, and what taking times did to them

extension Figure {
    public static let notifyLatencyP50 = Figure(
        "notify_latency_p50_ns", .notifyLatency, "p50", .latency, "notify p50",
        "From the end to the completion block entered, the median.")
    public static let notifyLatencyP99 = Figure(
        "notify_latency_p99_ns", .notifyLatency, "p99", .latency, "notify p99",
        "From the end to the completion block entered, 99th percentile.")
    public static let selfPerturbation = Figure(
        "self_perturbation", .selfPerturbation, "p50", .latency, "self-perturbation",
        "Time of rounds with time stamps ÷ that of rounds without, in the same process.")
}

// MARK: - Costs

extension Figure {
    public static let cpuTime = Figure(
        "cpu_ns_per_op", .cpuTime, "total", phase: "total", .cost, "CPU/op",
        """
        CPU time of the process per operation, total phase: steadier than time/op where other programs \
        run.
        """,
        column: .init(4, rank: 5), isHeadline: true, exportedName: "operation_cpu_seconds")
    public static let voluntarySwitches = Figure(
        "voluntary_switches_per_op", .voluntarySwitches, "total", phase: "total", .cost, "sleeps/op",
        "Threads that went to sleep, per operation.")
    public static let involuntarySwitches = Figure(
        "involuntary_switches_per_op", .involuntarySwitches, "total", phase: "total", .cost, "preemptions/op",
        "Threads that were preempted, per operation.")
    public static let pageFaults = Figure(
        "page_faults_per_op", .pageFaults, "total", phase: "total", .cost, "page faults/op",
        "Minor and major page faults of the process, per operation.")
    public static let futexCalls = Figure(
        "futex_calls_per_op", .futexCalls, "total", phase: "total", .cost, "futex calls/op",
        "Calls of futex(2) per operation, counted by a tracer in a sample of its own that nothing times.")
    public static let threadsCreated = Figure(
        "threads_created", .threadsCreated, "total", .cost, "threads made",
        "Threads that the backend created, counted by the same tracer.")
}

// MARK: - Memory

extension Figure {
    public static let allocations = Figure(
        "allocations_per_op", .allocations, "total", phase: "total", .memory, "allocs/op",
        "Calls of malloc per operation.",
        column: .init(18, rank: 8), isHeadline: true, exportedName: "operation_allocations")
    public static let allocatedBytes = Figure(
        "allocated_bytes_per_op", .allocatedBytes, "total", phase: "total", .memory, "bytes/op",
        "Bytes requested from malloc per operation.")
    public static let retainedBytes = Figure(
        "retained_bytes_per_pending_op", .retainedBytes, "total", phase: "mark:pending", .memory, "held/pending",
        "Bytes in use per operation while all are submitted and none has started.",
        column: .init(19, rank: 9), isHeadline: true, exportedName: "pending_operation_bytes")
    public static let unreleasedBytes = Figure(
        "unreleased_bytes", .unreleasedBytes, "total", phase: "mark:released", per: .sample, .memory, "unreleased",
        "Bytes still in use after everything was released.")
    public static let peakResident = Figure(
        "peak_resident_bytes", .peakResident, "max", .memory, "peak memory",
        "The process's greatest resident size.")
}

// MARK: - What is counted of the order, and of holds

extension Figure {
    public static let inversions = Figure(
        "inversions", .inversions, "total", .order, "inver\u{AD}sions",
        "Operations of a round that started although one of higher priority had been ready before.",
        column: .init(14, rank: 5))
    public static let startsAfterSuspend = Figure(
        "starts_after_suspend", .startsAfterSuspend, "total", .order, "late starts",
        "Operations of a round that started after `suspend` had returned.",
        column: .init(15, rank: 5))
    public static let quiesceP99 = Figure(
        "quiesce_p99_ns", .quiesceTime, "p99", .latency, "quiesce p99",
        "From the return of `suspend` to the last start after it, 99th percentile.",
        column: .init(16, rank: 6))
    public static let resumeToStartP99 = Figure(
        "resume_to_start_p99_ns", .resumeToStart, "p99", .latency, "resume p99",
        "From the call of `resume` to the first start, 99th percentile.",
        column: .init(17, rank: 6))
}
