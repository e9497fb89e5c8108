// Every metric, by the kind of sample that reports it. Rows name the phase or memory mark; a metric that belongs to
// none leaves it empty.

extension Metric {
    /// All metrics, in the order of this file.
    public static let catalogue: [Metric] = [
        time, operationThroughput, itemThroughput, rounds, roundTrend, schedulingEfficiency, cpuTime, voluntarySwitches,
        involuntarySwitches, pageFaults, processCPUTime, readyLatency, startLatency, runTime, endLatency, notifyLatency,
        submitLatency, intendedLatency, serviceLatency, submitLag, sustainedRate, capacity, arrivalRate, completionRate,
        selfPerturbation, longestWait, quiesceTime, resumeToStart, cpuShare, effectiveNice, allocations, allocatedBytes,
        retainedBytes, heapAllocated, heapActive, heapResident, heapMapped, heapRetained,
        unreleasedBytes, peakResident, futexCalls, threadsCreated, inversions, startsAfterSuspend, highWater, probeCost,
        referenceLoopTime, stealTime, cpuPressure, foreignTime, throttledTime, load, processors, nodes, makespanRatio,
        releaseTime, status,
    ]

    /// The metric of that name in rows, or nil.
    public static func named(_ name: String) -> Metric? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: catalogue.map { ($0.name, $0) })
}

// MARK: - Throughput samples

extension Metric {
    public static let time = Metric(
        name: "time", unit: .nanoseconds, direction: .lower, per: .operation,
        summary: "wall time of the phase, all rounds together")
    public static let operationThroughput = Metric(
        name: "throughput_ops", unit: .perSecond, direction: .higher, summary: "operations ÷ total")
    public static let itemThroughput = Metric(
        name: "throughput_items", unit: .perSecond, direction: .higher, summary: "items ÷ total")
    public static let rounds = Metric(
        name: "rounds", unit: .count, direction: .neutral,
        summary: "times that a sample ran the cell's plan, so as to last long enough")
    public static let roundTrend = Metric(
        name: "round_trend", unit: .ratio, direction: .neutral,
        summary: "how much the time of a round grew from the first round to the last, as a part; 0 is a steady state")
    public static let schedulingEfficiency = Metric(
        name: "scheduling_efficiency", unit: .ratio, direction: .higher,
        summary: "max(work ÷ processors, span) ÷ makespan, by the planned work: 1 is a perfect schedule at no cost")
    public static let cpuTime = Metric(
        name: "cpu_time", unit: .nanoseconds, direction: .lower, per: .operation,
        summary:
            "user and system time of the process, total phase, without that of competitors and of the workload's own pauses"
    )
    public static let processCPUTime = Metric(
        name: "process_cpu_time", unit: .nanoseconds, direction: .neutral,
        summary:
            "user and system time of the sample's process from its first instant to its last, as its parent reads it")
    public static let voluntarySwitches = Metric(
        name: "voluntary_switches", unit: .count, direction: .lower, per: .operation,
        summary: "threads that went to sleep, total phase, other than competitors and for the workload's own pauses")
    public static let involuntarySwitches = Metric(
        name: "involuntary_switches", unit: .count, direction: .lower, per: .operation,
        summary: "threads preempted, total phase, other than competitors and in the workload's own pauses")
    public static let pageFaults = Metric(
        name: "page_faults", unit: .count, direction: .lower, per: .operation,
        summary: "minor and major page faults of the process, total phase; of drain and teardown beside `release_time`")
}

// MARK: - Latency samples

extension Metric {
    public static let readyLatency = Metric(
        name: "ready_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "just before the submitting call → ready: the call itself, and the wait for predecessors")
    public static let startLatency = Metric(
        name: "start_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower, summary: "ready → start")
    public static let runTime = Metric(
        name: "run_time", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "start → end: the body, preemption included")
    public static let endLatency = Metric(
        name: "end_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower, summary: "ready → end")
    public static let notifyLatency = Metric(
        name: "notify_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "end → completion block entered")
    public static let submitLatency = Metric(
        name: "submit_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "just before the submitting call → start")
    public static let intendedLatency = Metric(
        name: "intended_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "the instant at which the plan has an operation arrive → end")
    public static let serviceLatency = Metric(
        name: "service_latency", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "just before the submitting call → end")
    public static let submitLag = Metric(
        name: "submit_lag", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "the instant at which the plan has an operation arrive → just before the submitting call")
    public static let sustainedRate = Metric(
        name: "sustained_rate", kinds: [.latency], unit: .perSecond, direction: .higher,
        summary: "the highest rate of arrivals found whose p99 of intended_latency is within the bound")
    public static let capacity = Metric(
        name: "capacity", kinds: [.latency], unit: .perSecond, direction: .higher,
        summary:
            "the highest rate of arrivals that a backend keeps up with, to within 5 %, where a load is a part of it")
    public static let arrivalRate = Metric(
        name: "arrival_rate", kinds: [.latency], unit: .perSecond, direction: .neutral,
        summary: "operations that arrived, in an open loop, from the first arrival to the last")
    public static let completionRate = Metric(
        name: "completion_rate", kinds: [.latency], unit: .perSecond, direction: .neutral,
        summary: "operations that ended in that time; where it stays behind the arrivals, the sample is `overloaded`")
    public static let selfPerturbation = Metric(
        name: "self_perturbation", kinds: [.latency], unit: .ratio, direction: .neutral,
        summary: "time of rounds with time stamps ÷ that of rounds without, interleaved")
    public static let longestWait = Metric(
        name: "longest_wait", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "the longest ready → start of a class")
    public static let quiesceTime = Metric(
        name: "quiesce_time", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "suspend returned → last start within the hold")
    public static let resumeToStart = Metric(
        name: "resume_to_start", kinds: [.latency], unit: .nanoseconds, direction: .lower,
        summary: "resume called → first start")
    public static let cpuShare = Metric(
        name: "cpu_share", kinds: [.latency], unit: .ratio, direction: .neutral,
        summary: "a class's CPU time ÷ its wall time from start to end")
    public static let effectiveNice = Metric(
        name: "effective_nice", kinds: [.latency], unit: .count, direction: .neutral,
        summary: "getpriority(2) as read inside the operation")
}

// MARK: - Memory samples

extension Metric {
    public static let allocations = Metric(
        name: "allocations", kinds: [.memory], unit: .count, direction: .lower, slack: 16, per: .operation,
        summary: "mallocs, with jemalloc's thread caches off; of the round that made the fewest")
    public static let allocatedBytes = Metric(
        name: "allocated_bytes", kinds: [.memory], unit: .bytes, direction: .lower, slack: 2048, per: .operation,
        summary: "bytes requested from malloc, with jemalloc's thread caches off; of the round that took the fewest")
    public static let retainedBytes = Metric(
        name: "retained_bytes", kinds: [.memory], unit: .bytes, direction: .lower, per: .operation,
        summary: "bytes in use more than at the mark `before`")
    public static let heapAllocated = Metric(
        name: "heap_allocated", kinds: [.memory], unit: .bytes, direction: .lower,
        summary: "jemalloc's stats.allocated at a mark")
    public static let heapActive = Metric(
        name: "heap_active", kinds: [.memory], unit: .bytes, direction: .lower,
        summary: "jemalloc's stats.active at a mark")
    public static let heapResident = Metric(
        name: "heap_resident", kinds: [.memory], unit: .bytes, direction: .lower,
        summary: "jemalloc's stats.resident at a mark")
    public static let heapMapped = Metric(
        name: "heap_mapped", kinds: [.memory], unit: .bytes, direction: .lower,
        summary: "jemalloc's stats.mapped at a mark")
    public static let heapRetained = Metric(
        name: "heap_retained", kinds: [.memory], unit: .bytes, direction: .lower,
        summary: "jemalloc's stats.retained at a mark")
    public static let unreleasedBytes = Metric(
        name: "unreleased_bytes", kinds: [.memory], unit: .bytes, direction: .lower, slack: 2048, per: .operation,
        summary:
            "bytes in use at `released` more than at `before`, thread caches off; of the round that left the fewest")
    public static let peakResident = Metric(
        name: "peak_resident", kinds: [.memory], unit: .bytes, direction: .lower, aggregation: .maximum,
        summary: "getrusage's ru_maxrss")
}

extension Metric {
    public static let futexCalls = Metric(
        name: "futex_calls", kinds: [.memory], unit: .count, direction: .lower, per: .operation,
        summary: "futex(2) calls of the process, total phase, counted by a tracer (ptrace(2), seccomp(2))")
    public static let threadsCreated = Metric(
        name: "threads_created", kinds: [.memory], unit: .count, direction: .lower,
        summary: "threads that the backend created since the process started, counted by a tracer")
}

// MARK: - Latency and check samples

extension Metric {
    public static let inversions = Metric(
        name: "inversions", kinds: [.latency, .check], unit: .count, direction: .lower,
        per: .round, summary: "operations that started before a higher ready one, all rounds together")
    public static let startsAfterSuspend = Metric(
        name: "starts_after_suspend", kinds: [.latency, .check], unit: .count, direction: .lower,
        per: .round, summary: "starts after suspend returned, within the hold, all rounds together")
    public static let highWater = Metric(
        name: "high_water", kinds: [.latency, .check], unit: .count, direction: .neutral,
        summary: "most operations seen running at once")
}

// MARK: - What may have disturbed a sample

extension Metric {
    public static let probeCost = Metric(
        name: "probe_cost", unit: .nanoseconds, direction: .neutral,
        summary: "what the proof of the outcome adds to one operation, measured on the serial backend")
    public static let referenceLoopTime = Metric(
        name: "anchor_time", unit: .nanoseconds, direction: .neutral,
        summary: "a short fixed loop, timed beside the sample: how fast the machine was")
    public static let stealTime = Metric(
        name: "steal_time", unit: .nanoseconds, direction: .neutral,
        summary: "time that the hypervisor gave to others, all CPUs together")
    public static let cpuPressure = Metric(
        name: "cpu_pressure", unit: .nanoseconds, direction: .neutral,
        summary: "time in which some task of the machine waited for a CPU (PSI)")
    public static let foreignTime = Metric(
        name: "foreign_time", unit: .nanoseconds, direction: .neutral,
        summary: "CPU time that other processes used while the sample's process lived")
    public static let throttledTime = Metric(
        name: "throttled_time", unit: .nanoseconds, direction: .neutral,
        summary: "time that the cgroup's quota took away")
    public static let processors = Metric(
        name: "cpus", unit: .count, direction: .neutral, summary: "processors that --cpus keeps the sample on")
    public static let nodes = Metric(
        name: "numa_nodes", unit: .count, direction: .neutral, summary: "NUMA nodes on which these are")
    public static let load = Metric(
        name: "load", unit: .ratio, direction: .neutral, summary: "the load average of one minute at the start")
}

// MARK: - Single features

extension Metric {
    public static let makespanRatio = Metric(
        name: "makespan_ratio", unit: .ratio, direction: .lower,
        summary: "makespan ÷ that of as many threads as the limit allows, all there at once, where operations block")
    public static let releaseTime = Metric(
        name: "release_time", unit: .nanoseconds, direction: .lower, per: .operation,
        summary: "drain and teardown, where everything waits in the queue before the first operation starts")
}

extension Metric {
    /// Reports a sample's status where there is no figure.
    public static let status = Metric(
        name: "status", unit: .count, direction: .neutral, summary: "the sample's status, no figure")
}

// MARK: - Open loops

extension Metric {
    /// Whether the metric is about operations that arrive without waiting for earlier ones.
    var isOfOpenLoops: Bool { isOfArrivals || [Self.sustainedRate, .capacity].contains(self) }

    /// Whether the metric is a time of single arrivals, at the rate that their sample has.
    public var isOfArrivals: Bool { [Self.intendedLatency, .serviceLatency, .submitLag].contains(self) }
}
