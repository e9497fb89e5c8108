/// The kinds of sample, never mixed in one process (throughput carries no per-operation timestamps).
public enum SampleKind: String, CaseIterable, Sendable, Codable, Hashable {
    case throughput, latency, memory, check
}
