/// Turns the JSON of a workload file into a `WorkloadSpec`, checking every key and value on the way. The published
/// schema says the same about structure (`JSONSchema.workload()`); both read the same definitions, and tests hold
/// them to the same verdicts.
enum WorkloadDecoder {
    /// What a file may say under `$schema`: this, or a relative path that ends in it.
    static let schemaPath = "schema/workload.schema.json"
    static let keys = [
        "$schema", "name", "summary", "shape", "parameters", "backends", "sample_kinds", "metrics", "skip", "expect",
    ]
    static let requiredKeys = ["name", "summary", "shape", "parameters", "backends"]

    static func decode(
        text: String, file: String, backends names: BackendNames = .known
    ) throws(InputError) -> WorkloadSpec {
        let root = try JSONParser.parse(text, file: file)
        let members = try root.object("an object with the keys of a workload", known: keys)
        for key in requiredKeys where members[key] == nil {
            throw root.error(
                "the key \"\(key)\" is missing", remedy: "required are \(requiredKeys.joined(separator: ", "))")
        }
        if let schema = members["$schema"] { try checkSchemaReference(schema) }
        let name = try name(members["name"]!, of: "workload", limit: TextLimits.name)
        let summary = try members["summary"]!.sentence("a one-line summary", limit: TextLimits.sentence)
        let shape = try shape(members["shape"]!)
        let definition = ShapeDefinition.of(shape)
        let rules = RuleDecoder(definition: definition, names: names)
        let spec = WorkloadSpec(
            file: file, text: text, sha256: SHA256.hexadecimal(of: Array(text.utf8)), name: name, summary: summary,
            shape: shape, axes: try axes(members["parameters"]!, definition: definition),
            backends: try backends(members["backends"]!, shape: shape, names),
            sampleKinds: try sampleKinds(members, definition: definition) ?? definition.kinds,
            skips: try members["skip"].map(rules.skips) ?? [],
            expectations: try members["expect"].map(rules.expectations) ?? [])
        try spec.checkProduct()
        return spec
    }

    private static func checkSchemaReference(_ node: JSONNode) throws(InputError) {
        let text = try node.string("the schema's path as a string")
        let isReference = text == schemaPath || text.hasSuffix("/" + schemaPath)
        guard isReference, !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw node.error(
                "\(JSONText.excerpt(text)) is not the schema of workloads", remedy: "write \"\(schemaPath)\"")
        }
    }

    /// The name of a workload or of a part of one.
    static func name(_ node: JSONNode, of thing: String, limit: Int) throws(InputError) -> String {
        let text = try node.string("a name as a string")
        let lettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars
        let scalars = text.unicodeScalars
        guard let first = scalars.first, lettersAndDigits.contains(first), scalars.count <= limit,
            scalars.allSatisfy({ lettersAndDigits.contains($0) || "._-".unicodeScalars.contains($0) })
        else {
            throw node.error(
                "\(JSONText.excerpt(text)) is no \(thing) name",
                remedy: "use 1 to \(limit) of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit")
        }
        return text
    }

    private static func shape(_ node: JSONNode) throws(InputError) -> Shape {
        Shape(rawValue: try node.choice("shape", among: Shape.allCases.map(\.rawValue)))!
    }

    private static func axes(
        _ node: JSONNode, definition: ShapeDefinition
    ) throws(InputError) -> [String: [ParameterValue]] {
        var axes: [String: [ParameterValue]] = [:]
        for (name, value) in try node.object(
            "an object of parameters", known: definition.parameters.map(\.name)
        ).sorted(by: { $0.value.value.line < $1.value.value.line }) {
            axes[name] = try definition.parameter(named: name)!.values(from: value)
        }
        return axes
    }

    private static func backends(
        _ node: JSONNode, shape: Shape, _ names: BackendNames
    ) throws(InputError) -> [BackendID] {
        var backends: [BackendID] = []
        for element in try node.elements("a list of backends") {
            let backend = try BackendID(checking: element, for: shape, names)
            if backends.contains(backend) {
                throw element.error("\(backend.rawValue) appears twice in the list", remedy: "keep one of the two")
            }
            backends.append(backend)
        }
        return backends
    }

    /// `metrics` is the older name of `sample_kinds`.
    private static func sampleKinds(
        _ members: [String: JSONNode], definition: ShapeDefinition
    ) throws(InputError) -> Set<SampleKind>? {
        if members["metrics"] != nil, let node = members["sample_kinds"] {
            throw node.error("sample_kinds and metrics are two names of one list", remedy: "keep one of the two")
        }
        guard let node = members["sample_kinds"] ?? members["metrics"] else { return nil }
        var kinds: Set<SampleKind> = []
        for element in try node.elements("a list of sample kinds") {
            let names = SampleKind.allCases.map(\.rawValue)
            let kind = SampleKind(rawValue: try element.choice("sample kind", among: names))!
            guard definition.kinds.contains(kind) else {
                throw element.error(
                    "the shape \(definition.shape.rawValue) has no \(kind.rawValue) samples",
                    remedy: "for it there are " + definition.kindNames.joined(separator: ", "))
            }
            if !kinds.insert(kind).inserted {
                throw element.error("\(kind.rawValue) appears twice in the list", remedy: "keep one of the two")
            }
        }
        return kinds
    }
}

/// Which names of backends a file may have.
public enum BackendNames: Sendable {
    /// Those that this program has.
    case known
    /// Any, as in what another program has recorded.
    case recorded
}

extension BackendID {
    /// Reads a backend's name, which must be known and defined for the shape; a recorded one need not be known.
    init(checking node: JSONNode, for shape: Shape, _ names: BackendNames) throws(InputError) {
        if names == .recorded {
            let recorded = BackendID(rawValue: try node.string("a backend as a string"))
            if recorded.isWellFormed, BackendDefinition.of(recorded) == nil {
                self = recorded
                return
            }
        }
        let name = try node.choice("backend", among: BackendID.known.map(\.rawValue))
        let known = BackendID.known(for: shape)
        guard known.contains(where: { $0.rawValue == name }) else {
            throw node.error(
                "the backend \(name) is not defined for the shape \(shape.rawValue)",
                remedy: "for it there are " + known.map(\.rawValue).joined(separator: ", "))
        }
        self.init(rawValue: name)
    }
}
