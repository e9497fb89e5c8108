/// The kinds of sample, never mixed in one process (throughput carries no per-operation timestamps).
public enum SampleKind: String, CaseIterable, Sendable, Codable, Hashable {
    case throughput, latency, memory, check
}

/// The outcome of a sample or of an attempt to take one.
public enum SampleStatus: String, CaseIterable, Sendable, Codable {
    case ok, invalid, timeout, crashed, unsupported, skipped
}
