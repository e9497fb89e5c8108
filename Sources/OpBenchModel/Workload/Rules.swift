/// A condition on one parameter, as written under `when`. Every given bound must hold.
public struct ParameterCondition: Sendable, Hashable {
    public var equals: ParameterValue?
    /// Strictly less than.
    public var below: Double?
    /// Strictly greater than.
    public var above: Double?
}

/// The author's knowledge of cells on some backends: that they are left out, or have a bad status.
public struct CellRule: Sendable, Hashable {
    /// Empty for all backends.
    public var backends: [BackendID] = []
    public var conditions: [String: ParameterCondition] = [:]
    /// The status that does not fail the run; nil for cells that are not run: their rows have status `skipped` and the
    /// reason.
    public var status: SampleStatus?
    /// The reason; of a name, the words.
    public var reason = ""
}

extension ParameterCondition {
    /// Whether a parameter's value meets every given bound. A word is neither below nor above a number.
    public func matches(_ value: ParameterValue) -> Bool {
        if let equals, equals != value { return false }
        if below == nil && above == nil { return true }
        guard let number = value.content as? Double ?? value.integer.map(Double.init) else { return false }
        return number < below ?? .infinity && number > above ?? -.infinity
    }
}

extension CellRule {
    func applies(to backend: BackendID, in cell: Cell) -> Bool {
        (backends.isEmpty || backends.contains(backend)) && applies(to: cell)
    }

    /// Whether every condition holds; without conditions, true.
    func applies(to cell: Cell) -> Bool {
        conditions.allSatisfy { name, condition in cell.parameters[name].map(condition.matches) ?? false }
    }
}

// MARK: - The format

extension CellRule {
    /// The most rules of one list: each is matched against every cell.
    private static let countLimit = 100

    /// - Parameter shape: nil if the file has no valid shape; then conditions are not checked.
    static func list(_ allowed: String, of shape: ShapeDefinition?, hasStatus: Bool) -> Format<[CellRule]> {
        let statuses = [SampleStatus.timeout, .crashed, .invalid].map(\.rawValue)
        let fields: [Field<CellRule>] = [
            Field("backend", backends(for: shape), isRequired: true) { $0.backends = $1 },
            Field("when", conditions(on: shape)) { $0.conditions = $1 },
            Field("status", .choice(statuses), isRequired: true) { $0.status = SampleStatus(rawValue: $1) },
            Field("reason", .sentence("a one-line reason"), "The reason, in one line.", isRequired: true) {
                $0.reason = $1
            },
        ]
        return Format.object("an object", CellRule(), fields.filter { hasStatus || $0.name != "status" })
            .list(allowed, atMost: countLimit)
    }

    /// Names for cells: the first rule that applies to a cell gives its name.
    static func names(on shape: ShapeDefinition?) -> Format<[CellRule]> {
        let fields: [Field<CellRule>] = [
            Field("when", conditions(on: shape), isRequired: true) { $0.conditions = $1 },
            Field("words", .sentence("a few words"), "The cells' name, in a few words.", isRequired: true) {
                $0.reason = $1
            },
        ]
        return Format.object("an object", CellRule(), fields).list("a list of names", atMost: countLimit)
    }

    private static func backends(for shape: ShapeDefinition?) -> Format<[BackendID]> {
        let (all, backend) = ("*", BackendID.format(for: shape))
        let (one, list) = (backend.map { [$0] }, backend.distinct("a list of backends"))
        return Format(
            backend.allowed, schema: .anyOf(["const": .string(all)], one.schema, list.schema)
        ) { node throws(InputErrors) in
            switch node.value.content {
            case .string(all): []
            case .array: try list.read(node)
            default: try one.read(node)
            }
        }
    }

    /// An empty object is refused as a probable slip.
    private static func conditions(on shape: ShapeDefinition?) -> Format<[String: ParameterCondition]> {
        guard let shape else { return .any("an object of conditions", [:], [:]) }
        return Format.object(
            "an object of conditions", [:],
            shape.parameters.map { parameter in
                Field(parameter.name, parameter.condition) { $0[parameter.name] = $1 }
            }, from: shape.listing
        ).checked(
            ["description": "Conditions on the cell, which must all hold; without it, the rule applies to every cell."]
                + .notEmpty
        ) { conditions, node throws(InputErrors) in
            if conditions.isEmpty {
                throw node.error("no condition", remedy: "name a parameter, or omit `when` to match every cell")
            }
            return conditions
        }.shared(as: "\(shape.shape.rawValue).when")
    }
}

extension ParameterDefinition {
    /// A value that is not an object, or an object with bounds.
    var condition: Format<ParameterCondition> {
        let bound = Format<Double>.number(-1e18...1e18)
        let fields: [Field<ParameterCondition>] = [
            Field("equals", format) { $0.equals = $1 }, Field("below", bound) { $0.below = $1 },
            Field("above", bound) { $0.above = $1 },
        ].filter { format.isNumeric || $0.name == "equals" }
        let names = fields.map(\.name).joined(separator: ", ")
        let object = Format.object("a condition", ParameterCondition(), fields).checked(.notEmpty) {
            condition, node throws(InputErrors) in
            guard condition != ParameterCondition() else {
                throw node.error("no condition", remedy: "write one of \(names)")
            }
            return condition
        }
        let isObject = defaultValue.json.isObject
        return Format<ParameterCondition>(
            "a condition on \(format.allowed)",
            schema: .anyOf(["not": .object(("type", "object"))] + format.schema, object.schema)
        ) { [format] node throws(InputErrors) in
            if node.value.isObject { return try object.read(node) }
            if isObject { throw node.wrongType(expected: "{\"equals\": …} with \(format.allowed)") }
            return ParameterCondition(equals: try format.read(node))
        }.shared()
    }
}
