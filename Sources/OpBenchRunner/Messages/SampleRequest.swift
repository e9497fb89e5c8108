import OpBenchBackends
import OpBenchModel

/// The order to a sample's process, sent as JSON to its standard input.
struct SampleRequest: Codable, Sendable {
    var workload: String
    var shape: Shape
    var cellID: String
    var parameters: [String: ParameterValue]
    var backend: BackendID
    var flavour: SampleFlavour
    /// How long a timed sample should last, in nanoseconds.
    var targetNanoseconds: Int64
    /// What measurement asks of a timed sample, in nanoseconds: a shorter one is flagged.
    static let shortLimit: Int64 = 100_000_000
    var kernel: WorkKernel
    /// The process whose death ends this one.
    var parent: Int32
    /// Mallocs an operation that are made on purpose; see `InjectedDefect`.
    var injectedAllocations: Int?
    /// Of a profiled sample; it answers with a `ProfileAnswer`.
    var profile: ProfileOrder?

    init(
        cell: Cell, backend: BackendID, flavour: SampleFlavour, targetNanoseconds: Int64, kernel: WorkKernel,
        parent: Int32
    ) {
        workload = cell.workload
        shape = cell.shape
        cellID = cell.id
        parameters = cell.parameters
        self.backend = backend
        self.flavour = flavour
        self.targetNanoseconds = targetNanoseconds
        self.kernel = kernel
        self.parent = parent
    }

    var cell: Cell {
        Cell(workload: workload, shape: shape, parameters: parameters, id: cellID)
    }
}

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
