import OpBenchBackends
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

/// The order to a sample's process, sent as JSON to its standard input.
struct SampleRequest: Codable, Sendable {
    var workload: String
    var shape: Shape
    var cellID: String
    var parameters: [String: Value]
    var backend: BackendID
    var flavour: SampleFlavour
    /// How long a timed sample should last, in nanoseconds.
    var targetNanoseconds: Int64
    var kernel: WorkKernel
    /// The process whose death ends this one.
    var parent: Int32
    /// Mallocs an operation that are made on purpose; see `InjectedDefect`.
    var injectedAllocations: Int?

    enum Value: Codable, Sendable {
        case integer(Int)
        case text(String)
        case weights([String: Double])
        case phases([PhaseValue])

        init(_ value: ParameterValue) {
            self =
                switch value {
                case .integer(let number): .integer(number)
                case .text(let text): .text(text)
                case .weights(let weights): .weights(weights)
                case .phases(let phases): .phases(phases.map(PhaseValue.init))
                }
        }

        var parameter: ParameterValue {
            switch self {
            case .integer(let number): .integer(number)
            case .text(let text): .text(text)
            case .weights(let weights): .weights(weights)
            case .phases(let phases): .phases(phases.map(\.phase))
            }
        }
    }

    struct PhaseValue: Codable, Sendable {
        var name: String
        var shape: Shape
        var values: [String: Value]

        init(_ phase: Phase) {
            (name, shape, values) = (phase.name, phase.shape, phase.values.mapValues(Value.init))
        }

        var phase: Phase { Phase(name: name, shape: shape, values: values.mapValues(\.parameter)) }
    }

    init(
        cell: Cell, backend: BackendID, flavour: SampleFlavour, targetNanoseconds: Int64, kernel: WorkKernel,
        parent: Int32
    ) {
        workload = cell.workload
        shape = cell.shape
        cellID = cell.id
        parameters = cell.parameters.mapValues(Value.init)
        self.backend = backend
        self.flavour = flavour
        self.targetNanoseconds = targetNanoseconds
        self.kernel = kernel
        self.parent = parent
    }

    var cell: Cell {
        Cell(
            workload: workload, shape: shape,
            parameters: parameters.mapValues(\.parameter), id: cellID)
    }
}

/// What a sample's process answers, as JSON.
struct SampleReport: Codable, Sendable {
    var status: SampleStatus = .ok
    var flags: [String] = []
    var notes: String = ""
    var figures: [Figure] = []
    var histograms: [Buckets] = []
    /// The fixed short loop before and after measuring, in nanoseconds: how fast the machine was just then.
    var anchorNanoseconds: [Int64] = []

    /// A figure of one process: what of a row is not the same for all its rows.
    struct Figure: Codable, Sendable, Equatable {
        var metric: String
        var stat: String
        var value: Double
        var phase: String = ""
        var iteration: Int?
        var operationClass: String = ""
        var operations: Int
    }

    struct Buckets: Codable, Sendable {
        var stage: String
        var operationClass: String
        var upperBounds: [Int64]
        var counts: [Int64]
    }

    mutating func add(
        _ metric: Metric, _ stat: String, _ value: Double, phase: String = "", iteration: Int? = nil,
        operationClass: String = "", operations: Int
    ) {
        figures.append(
            Figure(
                metric: metric.name, stat: stat, value: value, phase: phase, iteration: iteration,
                operationClass: operationClass, operations: operations))
    }

    mutating func note(_ text: String) {
        if !text.isEmpty { notes += notes.isEmpty ? text : "; " + text }
    }
}
