// Every metric, by the kind of sample that reports it. Rows name the phase or memory mark; it is empty for a metric
// that has none.

extension Metric {
    /// All metrics, in the order of this file.
    public static let catalogue: [Metric] = [
        time, operationThroughput, itemThroughput, rounds, roundSpread, roundChange, schedulingEfficiency, cpuTime,
        voluntarySwitches, involuntarySwitches, pageFaults, processCPUTime, readyLatency, startLatency, runTime,
        endLatency, notifyLatency, submitLatency, intendedLatency, recordedLatency, serviceLatency, submitLag,
        sustainedRate, capacity, arrivalRate, completionRate, recordedRate, selfPerturbation, longestWait, quiesceTime,
        resumeToStart,
        cpuShare, effectiveNice,
        allocations, allocatedBytes, retainedBytes, heapAllocated, heapActive, heapResident, heapMapped, heapRetained,
        unreleasedBytes, peakResident, futexCalls, threadsCreated, hardwareInstructions, cycles, cacheMisses,
        branchMisses, instructions, inversions, startsAfterSuspend, highWater, probeCost,
        referenceLoopTime, stealTime, cpuPressure, foreignTime, throttledTime, load, processors, nodes, makespanRatio,
        releaseTime, status,
    ]

    /// The metric with that name in rows, or nil.
    public static func named(_ name: String) -> Metric? { byName[name] }

    private static let byName = Dictionary(uniqueKeysWithValues: catalogue.map { ($0.name, $0) })

    // MARK: Throughput samples

    public static let time = Metric(
        name: "time", unit: .nanoseconds, direction: .lower, basis: .operation,
        summary: "wall time of the phase, all rounds together")
    public static let operationThroughput = Metric(
        name: "throughput_ops", unit: .perSecond, direction: .higher, summary: "operations ÷ total")
    public static let itemThroughput = Metric(
        name: "throughput_items", unit: .perSecond, direction: .higher, summary: "items ÷ total")
    public static let rounds = Metric(
        name: "rounds", unit: .count, direction: .neutral,
        summary: "how often a sample ran the cell's plan, to last long enough")
    public static let roundSpread = Metric(
        name: "round_spread", unit: .ratio, direction: .neutral,
        summary: "standard deviation of a round's total ÷ its mean, over all `rounds` of the sample")
    public static let roundChange = Metric(
        name: "round_change", unit: .ratio, direction: .neutral, isSigned: true,
        summary: "relative change of a round's time from its first level to its last, between change points")
    public static let schedulingEfficiency = Metric(
        name: "scheduling_efficiency", unit: .ratio, direction: .higher,
        summary: "max(work ÷ processors, span) ÷ makespan, from the planned work; 1 is a perfect schedule at no cost")
    public static let cpuTime = Metric(
        name: "cpu_time", unit: .nanoseconds, direction: .lower, basis: .operation,
        summary:
            "user and system time of the process, total phase, without competitors and the workload's own pauses"
    )
    public static let processCPUTime = Metric(
        name: "process_cpu_time", unit: .nanoseconds, direction: .neutral,
        summary:
            "user and system time of the sample's process over its whole life, read by its parent")
    public static let voluntarySwitches = Metric(
        name: "voluntary_switches", unit: .count, direction: .lower, basis: .operation,
        summary: "threads that went to sleep, total phase, without competitors and the workload's own pauses")
    public static let involuntarySwitches = Metric(
        name: "involuntary_switches", unit: .count, direction: .lower, basis: .operation,
        summary: "threads preempted, total phase, without competitors and the workload's own pauses")
    public static let pageFaults = Metric(
        name: "page_faults", unit: .count, direction: .lower, basis: .operation,
        summary: "minor and major page faults of the process, total phase; in phase `released` of drain and teardown")

    // MARK: Latency samples

    private static func latency(_ name: String, _ summary: String) -> Metric {
        Metric(name: name, kinds: [.latency], unit: .nanoseconds, direction: .lower, summary: summary)
    }

    public static let readyLatency = latency(
        "ready_latency", "just before the submitting call → ready: the call itself, and the wait for predecessors")
    public static let startLatency = latency("start_latency", "ready → start")
    public static let runTime = latency("run_time", "start → end: the body, preemption included")
    public static let endLatency = latency("end_latency", "ready → end")
    public static let notifyLatency = latency("notify_latency", "end → start of the completion block")
    public static let submitLatency = latency("submit_latency", "just before the submitting call → start")
    public static let intendedLatency = latency("intended_latency", "planned arrival → end")
    public static let recordedLatency = Metric(
        name: "recorded_latency", kinds: [.latency], unit: .nanoseconds, direction: .neutral,
        summary: "arrival → end of the same operations in the recording that is replayed")
    public static let serviceLatency = latency("service_latency", "just before the submitting call → end")
    public static let submitLag = latency("submit_lag", "planned arrival → just before the submitting call")
    public static let sustainedRate = Metric(
        name: "sustained_rate", kinds: [.latency], unit: .perSecond, direction: .higher,
        summary: "the highest rate of arrivals found whose intended_latency p99 is within the bound")
    public static let capacity = Metric(
        name: "capacity", kinds: [.latency], unit: .perSecond, direction: .higher,
        summary:
            "the highest rate of arrivals that a backend keeps up with, within 5 %; `load` is a fraction of it")
    public static let arrivalRate = Metric(
        name: "arrival_rate", kinds: [.latency], unit: .perSecond, direction: .neutral,
        summary: "in an open loop: arrivals per second, from the first arrival to the last")
    public static let completionRate = Metric(
        name: "completion_rate", kinds: [.latency], unit: .perSecond, direction: .neutral,
        summary: "completions per second, first to last arrival; a sample that falls behind is `overloaded`")
    public static let recordedRate = Metric(
        name: "recorded_rate", kinds: [.latency], unit: .perSecond, direction: .neutral,
        summary: "completions per second, first to last arrival, in the recording that is replayed")
    public static let selfPerturbation = Metric(
        name: "self_perturbation", kinds: [.latency], unit: .ratio, direction: .neutral,
        summary: "time of rounds with time stamps ÷ time of rounds without, interleaved")
    public static let longestWait = latency("longest_wait", "the longest ready → start of a class")
    public static let quiesceTime = latency("quiesce_time", "suspend returned → last start within the hold")
    public static let resumeToStart = latency("resume_to_start", "resume called → first start")
    public static let cpuShare = Metric(
        name: "cpu_share", kinds: [.latency], unit: .ratio, direction: .neutral,
        summary: "CPU time of a class ÷ its wall time from start to end")
    public static let effectiveNice = Metric(
        name: "effective_nice", kinds: [.latency], unit: .count, direction: .neutral, isSigned: true,
        summary: "getpriority(2) as read inside the operation")

    // MARK: Memory samples

    public static let allocations = Metric(
        name: "allocations", kinds: [.memory], unit: .count, direction: .lower, slack: .absolute(16), basis: .operation,
        summary: "mallocs, with jemalloc's thread caches off; the round with the fewest")
    public static let allocatedBytes = Metric(
        name: "allocated_bytes", kinds: [.memory], unit: .bytes, direction: .lower, slack: .absolute(2048),
        basis: .operation,
        summary: "bytes requested from malloc, with jemalloc's thread caches off; the round with the fewest")
    public static let retainedBytes = Metric(
        name: "retained_bytes", kinds: [.memory], unit: .bytes, direction: .lower, basis: .operation, isSigned: true,
        summary: "bytes in use beyond those at the mark `before`")
    /// One of jemalloc's figures at a mark.
    private static func heap(_ name: String) -> Metric {
        Metric(
            name: "heap_\(name)", kinds: [.memory], unit: .bytes, direction: .lower,
            summary: "jemalloc's stats.\(name) at a mark")
    }

    public static let heapAllocated = heap("allocated")
    public static let heapActive = heap("active")
    public static let heapResident = heap("resident")
    public static let heapMapped = heap("mapped")
    public static let heapRetained = heap("retained")
    public static let unreleasedBytes = Metric(
        name: "unreleased_bytes", kinds: [.memory], unit: .bytes, direction: .lower, slack: .absolute(2048),
        basis: .operation, isSigned: true,
        summary:
            "bytes in use at `released` beyond those at `before`, thread caches off; the round that left the fewest")
    public static let peakResident = Metric(
        name: "peak_resident", kinds: [.memory], unit: .bytes, direction: .lower, aggregation: .maximum,
        summary: "getrusage's ru_maxrss")

    public static let futexCalls = Metric(
        name: "futex_calls", kinds: [.memory], unit: .count, direction: .lower, basis: .operation,
        summary: "futex(2) calls of the process, total phase, counted by a tracer (ptrace(2), seccomp(2))")
    public static let threadsCreated = Metric(
        name: "threads_created", kinds: [.memory], unit: .count, direction: .lower,
        summary: "threads that the backend created since the process started, counted by a tracer")

    // MARK: Counters and instructions samples

    public static let hardwareInstructions = Metric(
        name: "hardware_instructions", kinds: [.counters], unit: .count, direction: .lower, basis: .operation,
        summary: "instructions in user space, total phase, all threads, counted by the processor (perf_event_open(2))")
    public static let cycles = Metric(
        name: "cycles", kinds: [.counters], unit: .count, direction: .lower, basis: .operation,
        summary: "cycles of the processor in user space, total phase, all threads, counted by the processor")
    public static let cacheMisses = Metric(
        name: "cache_misses", kinds: [.counters], unit: .count, direction: .lower, basis: .operation,
        summary: "misses of the last cache in user space, total phase, all threads, counted by the processor")
    public static let branchMisses = Metric(
        name: "branch_misses", kinds: [.counters], unit: .count, direction: .lower, basis: .operation,
        summary: "mispredicted branches in user space, total phase, all threads, counted by the processor")
    public static let instructions = Metric(
        name: "instructions", kinds: [.instructions], unit: .count, direction: .lower, slack: .relative(0.01),
        basis: .operation,
        summary:
            "instructions in user space, total phase, all threads, which take turns under valgrind's callgrind; the "
            + "round with the fewest")

    // MARK: Latency and check samples

    public static let inversions = Metric(
        name: "inversions", kinds: [.latency, .check], unit: .count, direction: .lower,
        basis: .round, summary: "operations that started before a ready one of higher priority, all rounds together")
    public static let startsAfterSuspend = Metric(
        name: "starts_after_suspend", kinds: [.latency, .check], unit: .count, direction: .lower,
        basis: .round, summary: "starts after suspend returned, within the hold, all rounds together")
    public static let highWater = Metric(
        name: "high_water", kinds: [.latency, .check], unit: .count, direction: .neutral,
        summary: "the most operations seen running at once")

    // MARK: Disturbances of a sample

    private static func circumstance(_ name: String, unit: Unit = .nanoseconds, _ summary: String) -> Metric {
        Metric(name: name, unit: unit, direction: .neutral, summary: summary)
    }

    public static let probeCost = circumstance(
        "probe_cost", "time that the proof of the outcome adds per operation, measured on the serial backend")
    public static let referenceLoopTime = circumstance(
        "anchor_time", "a short fixed loop, timed beside the sample: how fast the machine was")
    public static let stealTime = circumstance(
        "steal_time", "time that the hypervisor gave to other guests, all CPUs together")
    public static let cpuPressure = circumstance(
        "cpu_pressure", "time in which some task on the machine waited for a CPU (PSI)")
    public static let foreignTime = circumstance(
        "foreign_time", "CPU time that other processes used while the sample's process lived")
    public static let throttledTime = circumstance("throttled_time", "time lost to throttling by the cgroup's quota")
    public static let processors = circumstance("cpus", unit: .count, "processors to which --cpus confines the sample")
    public static let nodes = circumstance("numa_nodes", unit: .count, "NUMA nodes of the processors in `cpus`")
    public static let load = circumstance("load", unit: .ratio, "the load average of one minute at the start")

    // MARK: Single features

    public static let makespanRatio = Metric(
        name: "makespan_ratio", unit: .ratio, direction: .lower,
        summary: "makespan ÷ the makespan of as many ready threads as the limit allows, where operations block")
    public static let releaseTime = Metric(
        name: "release_time", unit: .nanoseconds, direction: .lower, basis: .operation,
        summary: "drain and teardown, if all operations wait in the queue before the first starts")

    /// The metric of a row that reports a sample's status and no figure.
    public static let status = Metric(
        name: "status", unit: .count, direction: .neutral, summary: "the sample's status, no figure")

    /// Whether the metric depends on wall-clock time, which includes the wait for a processor.
    package var isOfWallClock: Bool {
        let isRelative = [Self.schedulingEfficiency, .makespanRatio].contains(self)
        return direction != .neutral && self != Self.cpuTime
            && (isRelative || [.nanoseconds, .perSecond].contains(unit))
    }

    // MARK: Open loops

    /// Whether the metric describes operations that arrive without waiting for earlier ones.
    var isOfOpenLoops: Bool { isOfArrivals || [Self.sustainedRate, .capacity].contains(self) }

    /// Whether the metric is a time of single arrivals, at their sample's rate.
    public var isOfArrivals: Bool { [Self.intendedLatency, .serviceLatency, .submitLag].contains(self) }
}
