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

/// The outcome of a sample or of an attempt to take one.
public enum SampleStatus: String, CaseIterable, Sendable, Codable {
    case ok, invalid, timeout, crashed, unsupported, skipped
}
