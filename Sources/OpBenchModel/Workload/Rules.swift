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

/// The backends that a rule applies to.
public enum RuleBackends: Sendable, Hashable {
    /// All backends: `"*"`.
    case all
    /// The named backends, at least one.
    case named([BackendID])

    public func contains(_ backend: BackendID) -> Bool {
        switch self {
        case .all: true
        case .named(let names): names.contains(backend)
        }
    }

    /// The backends that the rule names.
    public var names: [BackendID] {
        switch self {
        case .all: []
        case .named(let names): names
        }
    }

    /// The text for all backends.
    static let wildcard = "*"
}

/// Cells that a backend is not run on, by the author's decision: their rows have status `skipped` and the reason.
public struct SkipRule: Sendable, Hashable {
    public var backends: RuleBackends
    public var conditions: [String: ParameterCondition]
    public var reason: String

    public init(backends: RuleBackends, conditions: [String: ParameterCondition], reason: String) {
        self.backends = backends
        self.conditions = conditions
        self.reason = reason
    }
}

/// A bad status that the author knows of: it does not fail the run.
public struct Expectation: Sendable, Hashable {
    public var backends: RuleBackends
    public var conditions: [String: ParameterCondition]
    public var status: SampleStatus
    public var reason: String

    public init(backends: RuleBackends, conditions: [String: ParameterCondition], status: SampleStatus, reason: String)
    {
        self.backends = backends
        self.conditions = conditions
        self.status = status
        self.reason = reason
    }
}
