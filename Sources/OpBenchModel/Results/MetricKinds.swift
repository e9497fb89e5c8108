// Which samples report a metric that can be better or worse: what a gate needs of a run.

extension Metric {
    /// The kinds of sample that report it. Those of a neutral metric, which nothing judges, are not told.
    public var kinds: Set<SampleKind> {
        if Self.ofLatencySamples.contains(name) { return [.latency] }
        if Self.ofMemorySamples.contains(name) { return [.memory] }
        return Self.ofOrderedSamples.contains(name) ? [.latency, .check] : [.throughput]
    }

    private static let ofLatencySamples = Set(
        [
            readyLatency, startLatency, runTime, endLatency, notifyLatency, submitLatency, intendedLatency,
            serviceLatency, submitLag, sustainedRate, capacity, longestWait, quiesceTime, resumeToStart,
        ].map(\.name))

    /// Whether the metric is about operations that arrive without waiting for earlier ones.
    var isOfOpenLoops: Bool { isOfArrivals || [Self.sustainedRate, .capacity].contains(self) }

    /// Whether the metric is a time of single arrivals, at the rate that their sample has.
    public var isOfArrivals: Bool { [Self.intendedLatency, .serviceLatency, .submitLag].contains(self) }

    private static let ofMemorySamples = Set(
        [
            allocations, allocatedBytes, retainedBytes, heapAllocated, heapActive, heapResident, heapMapped,
            heapRetained, unreleasedBytes, peakResident, futexCalls, threadsCreated,
        ].map(\.name))

    /// What the time stamps of both show.
    private static let ofOrderedSamples = Set([inversions, startsAfterSuspend].map(\.name))
}
