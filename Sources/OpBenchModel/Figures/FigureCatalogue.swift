// Every figure of the summary, in the order of the columns of `summary.csv`.

extension Figure {
    /// All figures, in the order of this file.
    public static let catalogue: [Figure] = [
        time, operationThroughput, itemThroughput, timeRatio, makespan, schedulingEfficiency, makespanRatio, cancelTime,
        releaseTime, releaseFaults, startLatencyP50, startLatencyP90, startLatencyP99, startLatencyP999,
        startLatencyMax, endLatencyP50, endLatencyP99, submitLatencyP50, submitLatencyP99, intendedLatencyP50,
        intendedLatencyP99, intendedLatencyP999, recordedLatencyP50, recordedLatencyP99, serviceLatencyP50,
        serviceLatencyP99, serviceLatencyP999, submitLagP99,
        sustainedRate, arrivalRate, completionRate, recordedRate, capacity, notifyLatencyP50, notifyLatencyP99,
        selfPerturbation,
        cpuTime, voluntarySwitches, involuntarySwitches, pageFaults, futexCalls, threadsCreated, instructions,
        hardwareInstructions, cycles, cacheMisses, branchMisses, allocations, allocatedBytes, retainedBytes,
        unreleasedBytes, peakResident, inversions, startsAfterSuspend, quiesceP90, resumeToStartP90,
        cpuShare,
    ]

    /// The figures that short tables show besides the time: each is the point of the shapes, or of the samples taken on
    /// request, that have it.
    public static let special: [Figure] = [
        intendedLatencyP50, intendedLatencyP99, sustainedRate, inversions, startsAfterSuspend, quiesceP90,
        resumeToStartP90, cpuShare, instructions, hardwareInstructions, cycles,
    ]

    // MARK: Times

    /// The estimate of every ratio of two sides. `hodgesLehmann` in OpBenchAnalysis computes it.
    public static let ratioEstimate = """
        the Hodges–Lehmann estimate of the ratios of the blocks, which is the median of their geometric means in pairs; \
        it is not the quotient of the two medians
        """

    public static let time = Figure(
        "time_ns_per_op", .time, "total", phase: "total", hasInterval: true, .time, "time/op",
        "Total time per operation: making, submitting and draining it. The median of the samples.",
        column: .init(1), isHeadline: true)
    public static let operationThroughput = Figure(
        "throughput_ops_per_s", .operationThroughput, "rate", phase: "total", hasInterval: true, .time, "operations/s",
        "Operations per second of total time.")
    public static let itemThroughput = Figure(
        "throughput_items_per_s", .itemThroughput, "rate", phase: "total", .time, "items/s",
        "Items of work per second of total time; an operation may do several.")
    public static let timeRatio = Figure(
        "time_ratio", .time, "total", phase: "total", isRatio: true, hasInterval: true, .ratio, "time ÷ baseline",
        """
        Time per operation ÷ the baseline's (column `ratio_to`): \(ratioEstimate). Drift cancels out within a block. \
        Below 1 is faster. Not comparable if either has the flag \
        `unpromised`, or if the two have different axes.
        """,
        column: .init(2), isHeadline: true)
    public static let makespan = Figure(
        "makespan_ns", .time, "total", phase: "makespan", per: .round, .time, "makespan",
        "Time to submit and drain one round.")
    public static let schedulingEfficiency = Figure(
        "scheduling_efficiency", .schedulingEfficiency, "mean", phase: "makespan", .time, "effi\u{AD}ciency",
        """
        Of independent operations and of graphs, with work: max(work ÷ processors, span) ÷ makespan, where the span is \
        the longest path; 1 is a perfect schedule at no cost.
        """,
        column: .init(3, isPart: true))
    public static let makespanRatio = Figure(
        "makespan_ratio", .makespanRatio, "total", phase: "makespan", .time, "makespan ÷ ideal",
        "Makespan ÷ the makespan of one thread per slot of the limit, where operations block.")
    public static let cancelTime = Figure(
        "cancel_ns_per_op", .time, "total", phase: "cancel", .time, "cancel/op",
        "Time of the cancelling calls per operation that they cancel.")
    public static let releaseTime = Figure(
        "release_ns_per_op", .releaseTime, "total", phase: "released", .time, "release/op",
        "Time to drain and tear down the queue, per operation, in shapes where all operations wait at once.")
    public static let releaseFaults = Figure(
        "release_page_faults_per_op", .pageFaults, "total", phase: "released", .time, "release faults/op",
        "Page faults of drain and teardown, per operation, in shapes where all operations wait at once.")

    // MARK: Latencies

    /// A latency: the beginning of its figures' names, its metric, and what it spans.
    private typealias Latency = (name: String, metric: Metric, span: String)

    private static let start: Latency = (
        "start", .startLatency, "From ready to the first line of the operation's body"
    )
    private static let end: Latency = ("end", .endLatency, "From ready to the end of the body")
    private static let submit: Latency = (
        "submit", .submitLatency, "From just before the submitting call to the first line of the body"
    )
    private static let intended: Latency = (
        "intended", .intendedLatency,
        "In an open loop: from the operation's planned arrival, whether it was submitted late or not, to its end"
    )
    private static let recorded: Latency = (
        "recorded", .recordedLatency, "In a replay: from arrival to end in the recording"
    )
    private static let service: Latency = (
        "service", .serviceLatency, "In an open loop: from the submitting call to the operation's end"
    )
    private static let notify: Latency = (
        "notify", .notifyLatency, "From the end of an operation to the start of its completion block"
    )

    private static let statNames = [
        "p50": "median", "p90": "90th percentile", "p99": "99th percentile", "p99.9": "99.9th percentile",
        "max": "maximum over all samples",
    ]

    private static func latency(
        _ latency: Latency, _ stat: String, hasInterval: Bool = false, _ more: String = "", column: Column? = nil,
        isHeadline: Bool = false
    ) -> Figure {
        Figure(
            "\(latency.name)_latency_\(stat.filter { $0 != "." })_ns", latency.metric, stat, hasInterval: hasInterval,
            .latency, "\(latency.name) \(stat)", "\(latency.span), \(statNames[stat]!).\(more)", column: column,
            isHeadline: isHeadline)
    }

    public static let startLatencyP50 = latency(
        start, "p50", hasInterval: true,
        " Where more operations are ready than can run, most of it is the wait behind the others (backlog).",
        column: .init(5))
    public static let startLatencyP90 = latency(start, "p90")
    public static let startLatencyP99 = latency(start, "p99", hasInterval: true, column: .init(6), isHeadline: true)
    public static let startLatencyP999 = latency(start, "p99.9")
    public static let startLatencyMax = latency(start, "max")
    public static let endLatencyP50 = latency(end, "p50", hasInterval: true)
    public static let endLatencyP99 = latency(end, "p99", hasInterval: true)
    public static let submitLatencyP50 = latency(submit, "p50", hasInterval: true)
    public static let submitLatencyP99 = latency(submit, "p99", hasInterval: true)
    public static let intendedLatencyP50 = latency(intended, "p50", hasInterval: true, column: .init(9))
    public static let intendedLatencyP99 = latency(intended, "p99", hasInterval: true, column: .init(10))
    public static let intendedLatencyP999 = latency(intended, "p99.9")
    public static let recordedLatencyP50 = latency(recorded, "p50")
    public static let recordedLatencyP99 = latency(recorded, "p99")
    public static let serviceLatencyP50 = latency(service, "p50", hasInterval: true, column: .init(7))
    public static let serviceLatencyP99 = latency(service, "p99", hasInterval: true, column: .init(8))
    public static let serviceLatencyP999 = latency(service, "p99.9")
    public static let notifyLatencyP50 = latency(notify, "p50")
    public static let notifyLatencyP99 = latency(notify, "p99")
    public static let submitLagP99 = Figure(
        "submit_lag_p99_ns", .submitLag, "p99", .latency, "submit lag p99",
        "In an open loop: from the planned arrival to the submitting call, 99th percentile.")

    // MARK: Rates of open loops

    public static let sustainedRate = Figure(
        "sustained_rate_per_s", .sustainedRate, "rate", .rate, "holds",
        "The highest rate of arrivals found whose latencies stay within the workload's bound.",
        column: .init(13))
    public static let arrivalRate = Figure(
        "arrival_rate_per_s", .arrivalRate, "rate", .rate, "arrive",
        "In an open loop: arrivals per second, from the first arrival to the last.",
        column: .init(11))
    public static let completionRate = Figure(
        "completion_rate_per_s", .completionRate, "rate", .rate, "end",
        """
        In an open loop: operations completed per second, from the first arrival to the last. A row \
        flagged `overloaded` fell behind in most samples; it has no latencies, as they would grow with the duration.
        """,
        column: .init(12))
    public static let recordedRate = Figure(
        "recorded_rate_per_s", .recordedRate, "rate", .rate, "recorded",
        "In a replay: operations completed per second in the recording, from the first arrival to the last.")
    public static let capacity = Figure(
        "capacity_per_s", .capacity, "rate", .rate, "capacity",
        "The highest rate of arrivals that the backend keeps up with; the parameter `load` is a fraction of it.")

    // MARK: Self-perturbation

    public static let selfPerturbation = Figure(
        "self_perturbation", .selfPerturbation, "p50", .latency, "self-perturbation",
        "Time of rounds with time stamps ÷ time of rounds without, in the same process.")

    // MARK: Costs

    public static let cpuTime = Figure(
        "cpu_ns_per_op", .cpuTime, "total", phase: "total", .cost, "CPU/op",
        """
        CPU time of the process per operation, total phase. Steadier than time/op while other programs \
        run.
        """,
        column: .init(4), isHeadline: true)
    public static let voluntarySwitches = Figure(
        "voluntary_switches_per_op", .voluntarySwitches, "total", phase: "total", .cost, "sleeps/op",
        "Voluntary context switches (threads that went to sleep) per operation.")
    public static let involuntarySwitches = Figure(
        "involuntary_switches_per_op", .involuntarySwitches, "total", phase: "total", .cost, "preemptions/op",
        "Involuntary context switches (threads that were preempted) per operation.")
    public static let pageFaults = Figure(
        "page_faults_per_op", .pageFaults, "total", phase: "total", .cost, "page faults/op",
        "Minor and major page faults of the process, per operation.")
    public static let futexCalls = Figure(
        "futex_calls_per_op", .futexCalls, "total", phase: "total", .cost, "futex calls/op",
        "Calls to futex(2) per operation, counted by a tracer in a separate, untimed sample.")
    public static let threadsCreated = Figure(
        "threads_created", .threadsCreated, "total", .cost, "threads made",
        "Threads that the backend created, counted by a tracer in a separate, untimed sample.")

    // MARK: Counts of the processor

    public static let instructions = Figure(
        "instructions_per_op", .instructions, "total", phase: "total", .cost, "instruc\u{AD}tions/op",
        """
        Instructions per operation in user space, counted by valgrind's callgrind in a separate, untimed sample, in \
        which threads take turns. Exact to 1 %.
        """,
        column: .init(20), isHeadline: true)
    public static let hardwareInstructions = Figure(
        "hardware_instructions_per_op", .hardwareInstructions, "total", phase: "total", .cost,
        "HW instruc\u{AD}tions/op", "Instructions per operation in user space, counted by the processor.",
        column: .init(21), isHeadline: true)
    public static let cycles = Figure(
        "cycles_per_op", .cycles, "total", phase: "total", .cost, "cycles/op",
        "Cycles per operation in user space, over all threads, counted by the processor.",
        column: .init(22))
    public static let cacheMisses = Figure(
        "cache_misses_per_op", .cacheMisses, "total", phase: "total", .cost, "cache misses/op",
        "Misses of the last cache per operation in user space, counted by the processor.",
        column: .init(23))
    public static let branchMisses = Figure(
        "branch_misses_per_op", .branchMisses, "total", phase: "total", .cost, "branch misses/op",
        "Mispredicted branches per operation in user space, counted by the processor.",
        column: .init(24))

    // MARK: Memory

    public static let allocations = Figure(
        "allocations_per_op", .allocations, "total", phase: "total", .memory, "allocs/op",
        "Calls to malloc per operation.",
        column: .init(18), isHeadline: true)
    public static let allocatedBytes = Figure(
        "allocated_bytes_per_op", .allocatedBytes, "total", phase: "total", .memory, "bytes/op",
        "Bytes requested from malloc per operation.")
    public static let retainedBytes = Figure(
        "retained_bytes_per_pending_op", .retainedBytes, "total", phase: "mark:pending", .memory, "held/pending",
        "Bytes in use per operation when all operations are submitted and none has started.",
        column: .init(19), isHeadline: true)
    public static let unreleasedBytes = Figure(
        "unreleased_bytes", .unreleasedBytes, "total", phase: "mark:released", per: .sample, .memory, "unreleased",
        "Bytes still in use after everything was released.")
    public static let peakResident = Figure(
        "peak_resident_bytes", .peakResident, "max", .memory, "peak memory",
        "The largest resident size of the process.")

    // MARK: Order, suspend and resume

    public static let inversions = Figure(
        "inversions", .inversions, "total", .order, "inver\u{AD}sions",
        "Operations per round that started while an operation of higher priority was already ready.",
        column: .init(14))
    public static let startsAfterSuspend = Figure(
        "starts_after_suspend", .startsAfterSuspend, "total", .order, "late starts",
        "Operations per round that started after `suspend` had returned.",
        column: .init(15))
    public static let quiesceP90 = Figure(
        "quiesce_p90_ns", .quiesceTime, "p90", .latency, "quiesce p90",
        "From the return of `suspend` to the last start after it, 90th percentile.",
        column: .init(16))
    public static let resumeToStartP90 = Figure(
        "resume_to_start_p90_ns", .resumeToStart, "p90", .latency, "resume p90",
        "From the call to `resume` to the first start, 90th percentile.",
        column: .init(17))

    // MARK: Thread priorities

    public static let cpuShare = Figure(
        "cpu_share", .cpuShare, "mean", .order, "CPU share",
        "The part of a processor that operations of a thread priority got: their CPU time ÷ their time from start to end.",
        column: .init(25, isPart: true))
}
