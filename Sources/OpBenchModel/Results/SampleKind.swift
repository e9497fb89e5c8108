/// The kinds of sample, never mixed in one process (throughput carries no per-operation timestamps).
public enum SampleKind: String, CaseIterable, Sendable, Codable, Hashable {
    case throughput, latency, memory
    /// Events that the processor counts.
    case counters
    /// Instructions that valgrind's callgrind counts.
    case instructions
    case check

    /// Whether samples are taken only if a workload or the user names the kind: they need hardware that many machines
    /// do not have, or a slow tool.
    public var isOnRequest: Bool { self == .counters || self == .instructions }

    /// The names of these kinds, in words.
    public static let onRequest = allCases.filter(\.isOnRequest).map(\.rawValue).joined(separator: " and ")

    /// Whether samples report counts that barely vary, of which a few samples are enough.
    package var isOfCounts: Bool { self == .memory || self == .instructions }
}

/// The measurement of one process. Each kind of sample has one flavour; memory has three: exact counts of allocations need
/// another allocator configuration than realistic sizes do, and kernel calls are counted from outside. The raw values
/// end a `sample_id`.
public enum SampleFlavour: String, Codable, Sendable, CaseIterable {
    case throughput, latency
    /// Allocation counts; the process runs with jemalloc's thread caches off.
    case allocations
    /// Bytes at the memory marks, with default settings.
    case heap
    /// Futex calls and threads; the process runs under a tracer that counts them.
    case calls
    /// The processor's events.
    case counters
    /// Instructions; the process runs under callgrind.
    case instructions
    case check

    /// The kind of that name; the flavours without one are of memory.
    public var kind: SampleKind { SampleKind(rawValue: rawValue) ?? .memory }

    /// The flavour of the sample with an id such as `00123r-throughput`; nil for the id of an omission.
    package init?(ofSample id: some StringProtocol) {
        guard let name = id.split(separator: "-").last else { return nil }
        self.init(rawValue: String(name))
    }

    package static func flavours(of kind: SampleKind) -> [SampleFlavour] { allCases.filter { $0.kind == kind } }
}

/// The outcome of a sample or of an attempt to take one.
public enum SampleStatus: String, CaseIterable, Sendable, Codable {
    case ok, invalid, timeout, crashed, unsupported, skipped
}
