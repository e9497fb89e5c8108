import OpBenchModel

/// What one process measures. Kinds of sample, but memory in three flavours, since exact counts of allocations need
/// another allocator configuration than honest sizes do, and calls of the kernel are counted from outside. The raw values end a `sample_id`.
enum SampleFlavour: String, Codable, Sendable, CaseIterable {
    case throughput, latency
    /// Allocation counts; the process runs with jemalloc's thread caches off.
    case allocations
    /// Bytes at the memory marks, with default settings.
    case heap
    /// Futex calls and threads; the process runs under a tracer that counts them.
    case calls
    case check

    var kind: SampleKind {
        switch self {
        case .throughput: .throughput
        case .latency: .latency
        case .allocations, .heap, .calls: .memory
        case .check: .check
        }
    }

    static func flavours(of kind: SampleKind) -> [SampleFlavour] { allCases.filter { $0.kind == kind } }
}
