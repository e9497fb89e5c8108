import OpBenchBackends
import OpBenchModel

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
    /// What measurement asks of a timed sample, in nanoseconds: a shorter one is flagged.
    static let shortLimit: Int64 = 100_000_000
    var kernel: WorkKernel
    /// The process whose death ends this one.
    var parent: Int32
    /// Mallocs an operation that are made on purpose; see `InjectedDefect`.
    var injectedAllocations: Int?
    /// Of a profiled sample; it answers with a `ProfileAnswer`.
    var profile: ProfileOrder?

    enum Value: Codable, Sendable {
        case integer(Int)
        case number(Double)
        case text(String)
        case weights([String: Double])
        case phases([PhaseValue])

        init(_ value: ParameterValue) {
            self =
                switch value {
                case .integer(let number): .integer(number)
                case .number(let number): .number(number)
                case .text(let text): .text(text)
                case .weights(let weights): .weights(weights)
                case .phases(let phases): .phases(phases.map(PhaseValue.init))
                }
        }

        var parameter: ParameterValue {
            switch self {
            case .integer(let number): .integer(number)
            case .number(let number): .number(number)
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
