/// A condition on one parameter, as written under `when`. Every given bound must hold.
public struct ParameterCondition: Sendable, Hashable {
    public var equals: ParameterValue?
    /// Strictly less than.
    public var below: Double?
    /// Strictly greater than.
    public var above: Double?

    public init(equals: ParameterValue? = nil, below: Double? = nil, above: Double? = nil) {
        self.equals = equals
        self.below = below
        self.above = above
    }
}

/// Cells that a backend is not run on, by the author's decision: their rows have status `skipped` and the reason.
public struct SkipRule: Sendable, Hashable {
    public var backend: BackendID
    public var conditions: [String: ParameterCondition]
    public var reason: String

    public init(backend: BackendID, conditions: [String: ParameterCondition], reason: String) {
        self.backend = backend
        self.conditions = conditions
        self.reason = reason
    }
}

/// A bad status that the author knows of: it does not fail the run.
public struct Expectation: Sendable, Hashable {
    public var backend: BackendID
    public var conditions: [String: ParameterCondition]
    public var status: SampleStatus
    public var reason: String

    public init(backend: BackendID, conditions: [String: ParameterCondition], status: SampleStatus, reason: String) {
        self.backend = backend
        self.conditions = conditions
        self.status = status
        self.reason = reason
    }
}
