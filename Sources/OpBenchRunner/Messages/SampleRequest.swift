import OpBenchBackends
import OpBenchModel

/// The request to a sample's process, sent as JSON on its standard input.
struct SampleRequest: Codable, Sendable {
    var workload: String
    var shape: Shape
    var cellID: String
    var parameters: [String: ParameterValue]
    var backend: BackendID
    var flavour: SampleFlavour
    /// Intended duration of a timed sample, in nanoseconds.
    var targetNanoseconds: Int64
    /// The least duration of a timed sample, in nanoseconds; shorter ones are flagged.
    static let shortLimit: Int64 = 100_000_000
    var kernel: WorkKernel
    /// The process whose death ends this one.
    var parent: Int32
    /// Intentional mallocs per operation; see `InjectedDefect`.
    var injectedAllocations: Int?
    /// Set for a sample under callgrind: the path of the files in which callgrind writes its counts, see
    /// `CallgrindCounter`.
    var countsFile: String?
    /// Set for a profiled sample, which answers with a `ProfileAnswer`.
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

/// The measurement of one process. Each kind of sample has one flavour; memory has three: exact counts of allocations need
/// another allocator configuration than realistic sizes do, and kernel calls are counted from outside. The raw values
/// end a `sample_id`.
enum SampleFlavour: String, Codable, Sendable, CaseIterable {
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

    var kind: SampleKind {
        switch self {
        case .throughput: .throughput
        case .latency: .latency
        case .allocations, .heap, .calls: .memory
        case .counters: .counters
        case .instructions: .instructions
        case .check: .check
        }
    }

    static func flavours(of kind: SampleKind) -> [SampleFlavour] { allCases.filter { $0.kind == kind } }
}
