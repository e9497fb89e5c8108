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

/// Cells on which the author does not run a backend: their rows have status `skipped` and the reason.
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

/// A bad status that the author knows about: it does not fail the run.
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

extension ParameterCondition {
    /// Whether a parameter's value meets every given bound. A word is neither below nor above a number.
    public func matches(_ value: ParameterValue) -> Bool {
        if let equals, equals != value { return false }
        if below == nil && above == nil { return true }
        let number: Double
        switch value {
        case .integer(let whole): number = Double(whole)
        case .number(let value): number = value
        case .text, .weights, .phases, .recording, .body: return false
        }
        return number < below ?? .infinity && number > above ?? -.infinity
    }
}

extension Cell {
    /// Whether every condition holds; without conditions, true.
    func satisfies(_ conditions: [String: ParameterCondition]) -> Bool {
        conditions.allSatisfy { name, condition in parameters[name].map(condition.matches) ?? false }
    }
}

extension WorkloadSpec {
    /// The first rule that skips the cell on a backend, or nil.
    public func skipRule(for backend: BackendID, in cell: Cell) -> SkipRule? {
        skips.first { $0.backends.contains(backend) && cell.satisfies($0.conditions) }
    }

    /// The first expectation that excuses a sample's status, or nil.
    public func expectation(of status: SampleStatus, for backend: BackendID, in cell: Cell) -> Expectation? {
        expectations.first {
            $0.status == status && $0.backends.contains(backend) && cell.satisfies($0.conditions)
        }
    }

    /// Warnings about rules without effect: a skip or an expectation that matches no cell of the workload, or a backend
    /// that the workload does not list.
    public func warnings() -> [String] {
        let cells = cells
        func warning(
            _ key: String, _ index: Int, _ named: RuleBackends, _ conditions: [String: ParameterCondition]
        ) -> String? {
            let place = "\(file): $.\(key)[\(index)]"
            if let absent = named.names.first(where: { !backends.contains($0) }) {
                return "\(place) matches nothing: \(absent.rawValue) is not among the backends"
            }
            return cells.contains { $0.satisfies(conditions) }
                ? nil : "\(place) matches nothing: no cell meets its `when`"
        }
        return skips.enumerated().compactMap { warning("skip", $0, $1.backends, $1.conditions) }
            + expectations.enumerated().compactMap { warning("expect", $0, $1.backends, $1.conditions) }
    }
}
