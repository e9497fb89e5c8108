/// What a workload does; each shape has its own parameters (`ShapeDefinition`).
public enum Shape: String, CaseIterable, Sendable, Codable {
    case independent
    case chain
    case priorityMix = "priority_mix"
    case threadPriority = "thread_priority"
    case suspendResume = "suspend_resume"
}

/// The kinds of sample, never mixed in one process (throughput carries no per-operation timestamps).
public enum SampleKind: String, CaseIterable, Sendable, Codable, Hashable {
    case throughput, latency, memory, check
}

/// One parameter's value in one cell.
public enum ParameterValue: Sendable, Hashable {
    case integer(Int)
    case text(String)
    /// Relative weights by key, as in `mix`.
    case weights([String: Double])
}

/// A backend by its name in files and rows: `engine`, `dispatch`, `dispatch:notify`, …
public struct BackendID: RawRepresentable, Hashable, Sendable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let engine = BackendID(rawValue: "engine")
    public static let dispatch = BackendID(rawValue: "dispatch")
    public static let foundation = BackendID(rawValue: "foundation")
    public static let serial = BackendID(rawValue: "serial")
}

/// A workload file, decoded and wholly validated.
public struct WorkloadSpec: Sendable {
    /// The path as the user gave it.
    public var file: String
    /// The file's bytes as read, and their SHA-256 in hexadecimal.
    public var text: String
    public var sha256: String
    public var name: String
    public var summary: String
    public var shape: Shape
    /// The values of each parameter that the file names, in the file's order; one value or several.
    public var axes: [String: [ParameterValue]]
    public var backends: [BackendID]
    public var metrics: Set<SampleKind>
    public var skips: [SkipRule]
    public var expectations: [Expectation]

    public init(
        file: String, text: String, sha256: String, name: String, summary: String, shape: Shape,
        axes: [String: [ParameterValue]], backends: [BackendID], metrics: Set<SampleKind>,
        skips: [SkipRule] = [], expectations: [Expectation] = []
    ) {
        self.file = file
        self.text = text
        self.sha256 = sha256
        self.name = name
        self.summary = summary
        self.shape = shape
        self.axes = axes
        self.backends = backends
        self.metrics = metrics
        self.skips = skips
        self.expectations = expectations
    }
}

/// One point of a workload's parameter product, the same for every backend.
public struct Cell: Sendable, Hashable {
    public let workload: String
    public let shape: Shape
    /// Every parameter of the shape, defaults filled in.
    public let parameters: [String: ParameterValue]
    /// The workload's name and the sorted `name=value` of the parameters that differ from their defaults, without
    /// seeds. Stable: a new parameter with a default changes no `cell_id`.
    public let id: String

    public init(workload: String, shape: Shape, parameters: [String: ParameterValue], id: String) {
        self.workload = workload
        self.shape = shape
        self.parameters = parameters
        self.id = id
    }
}
