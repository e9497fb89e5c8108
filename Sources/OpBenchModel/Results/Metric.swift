/// A figure that opbench reports, declared once: its name in rows, unit and direction, whether it barely varies.
public struct Metric: Sendable, Hashable {
    public enum Direction: String, Sendable { case higher, lower, neutral }
    public enum Unit: String, Sendable { case seconds = "s", bytes = "B", perSecond = "1/s", count, ratio = "1" }

    public let name: String
    public let unit: Unit
    public let direction: Direction
    /// True for counts that barely vary from sample to sample.
    public let isDeterministic: Bool
    /// One line for people.
    public let summary: String

    public init(name: String, unit: Unit, direction: Direction, isDeterministic: Bool = false, summary: String) {
        self.name = name
        self.unit = unit
        self.direction = direction
        self.isDeterministic = isDeterministic
        self.summary = summary
    }
}

extension Metric {
    public static let time = Metric(
        name: "time", unit: .seconds, direction: .lower, summary: "wall time of the phase, all rounds together")
    public static let operationThroughput = Metric(
        name: "throughput_ops", unit: .perSecond, direction: .higher, summary: "operations ÷ total")
    public static let itemThroughput = Metric(
        name: "throughput_items", unit: .perSecond, direction: .higher, summary: "items ÷ total")
    public static let startLatency = Metric(
        name: "start_latency", unit: .seconds, direction: .lower, summary: "ready → start")
    public static let endLatency = Metric(
        name: "end_latency", unit: .seconds, direction: .lower, summary: "ready → end")
    public static let notifyLatency = Metric(
        name: "notify_latency", unit: .seconds, direction: .lower, summary: "end → completion block entered")
    public static let cpuTime = Metric(
        name: "cpu_time", unit: .seconds, direction: .lower, summary: "user and system time of the process, total phase")
    public static let voluntarySwitches = Metric(
        name: "voluntary_switches", unit: .count, direction: .lower, summary: "threads that went to sleep, total phase")
    public static let involuntarySwitches = Metric(
        name: "involuntary_switches", unit: .count, direction: .lower, summary: "threads preempted, total phase")
    public static let allocations = Metric(
        name: "allocations", unit: .count, direction: .lower, isDeterministic: true,
        summary: "mallocs, with jemalloc's thread caches off")
    public static let allocatedBytes = Metric(
        name: "allocated_bytes", unit: .bytes, direction: .lower, isDeterministic: true,
        summary: "bytes asked of malloc, with jemalloc's thread caches off")
    public static let retainedBytes = Metric(
        name: "retained_bytes", unit: .bytes, direction: .lower, summary: "bytes in use more than at the mark `before`")
    public static let heapAllocated = Metric(
        name: "heap_allocated", unit: .bytes, direction: .lower, summary: "jemalloc's stats.allocated at a mark")
    public static let heapActive = Metric(
        name: "heap_active", unit: .bytes, direction: .lower, summary: "jemalloc's stats.active at a mark")
    public static let heapResident = Metric(
        name: "heap_resident", unit: .bytes, direction: .lower, summary: "jemalloc's stats.resident at a mark")
    public static let heapMapped = Metric(
        name: "heap_mapped", unit: .bytes, direction: .lower, summary: "jemalloc's stats.mapped at a mark")
    public static let heapRetained = Metric(
        name: "heap_retained", unit: .bytes, direction: .lower, summary: "jemalloc's stats.retained at a mark")
    public static let unreleasedBytes = Metric(
        name: "unreleased_bytes", unit: .bytes, direction: .lower, summary: "bytes in use at `released` more than at `before`")
    public static let peakResident = Metric(
        name: "peak_resident", unit: .bytes, direction: .lower, summary: "getrusage's ru_maxrss")
    public static let inversions = Metric(
        name: "inversions", unit: .count, direction: .lower, summary: "operations that started past a higher ready one")
    public static let longestWait = Metric(
        name: "longest_wait", unit: .seconds, direction: .lower, summary: "the longest ready → start of a class")
    public static let startsAfterSuspend = Metric(
        name: "starts_after_suspend", unit: .count, direction: .lower, summary: "starts after suspend returned, within the hold")
    public static let quiesceTime = Metric(
        name: "quiesce_time", unit: .seconds, direction: .lower, summary: "suspend returned → last start within the hold")
    public static let resumeToStart = Metric(
        name: "resume_to_start", unit: .seconds, direction: .lower, summary: "resume called → first start")
    public static let cpuShare = Metric(
        name: "cpu_share", unit: .ratio, direction: .neutral, summary: "a class's CPU time ÷ its wall time from start to end")
    public static let effectiveNice = Metric(
        name: "effective_nice", unit: .count, direction: .neutral, summary: "getpriority(2) as read inside the operation")
    public static let highWater = Metric(
        name: "high_water", unit: .count, direction: .neutral, summary: "most operations seen running at once")
    /// Reports a sample's status where there is no figure.
    public static let status = Metric(name: "status", unit: .count, direction: .neutral, summary: "the sample's status, no figure")
}
