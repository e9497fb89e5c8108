/// Decodes the JSON of a workload file into a `WorkloadSpec`, and checks every key and value. The published schema
/// (`JSONSchema.workload()`) is derived from the same definitions; tests check that both agree.
enum WorkloadDecoder {
    /// The value of `$schema` in a file: this, or a relative path that ends in it.
    static let schemaPath = "schema/workload.schema.json"
    static let keys = [
        "$schema", "name", "summary", "shape", "parameters", "zip", "backends", "sample_kinds", "skip",
        "expect",
    ]
    static let requiredKeys = ["name", "summary", "shape", "parameters", "backends"]

    static func decode(
        text: String, file: String, backends names: BackendNames = .known
    ) throws(InputErrors) -> WorkloadSpec {
        let mistakes = Mistakes()
        let root = try JSONParser.read(text, file: file, mistakes)
        guard
            let members = mistakes.keep({ () throws(InputErrors) in
                try root.object(
                    "an object with the keys of a workload", known: keys, from: "opbench schema",
                    required: requiredKeys, mistakes)
            })
        else { throw mistakes.gathered! }
        mistakes.keep(members["$schema"], checkSchemaReference)
        let name = mistakes.keep(members["name"]) { node throws(InputErrors) in
            try Self.name(node, of: "workload", limit: TextLimits.name)
        }
        let summary = mistakes.keep(members["summary"]) { node throws(InputErrors) in
            try node.sentence("a one-line summary", limit: TextLimits.sentence)
        }
        let shape = members["shape"].flatMap { Self.shape($0, parameters: members["parameters"], mistakes) }
        let definition = shape.map(ShapeDefinition.of)
        let rules = RuleDecoder(definition: definition, names: names)
        let backends = mistakes.keep(members["backends"]) { node throws(InputErrors) in
            try BackendID.list(node, for: shape, names)
        }
        let kinds = mistakes.keep { () throws(InputErrors) in try Self.sampleKinds(members, definition: definition) }
        let skips = mistakes.keep(members["skip"], rules.skips)
        let expectations = mistakes.keep(members["expect"], rules.expectations)
        var spec: WorkloadSpec?
        if let definition, let node = members["parameters"] {
            mistakes.keep { () throws(InputErrors) in
                let axes = try Self.axes(node, definition: definition, names)
                var read = WorkloadSpec(
                    file: file, text: text, sha256: SHA256.hexadecimal(of: Array(text.utf8)),
                    name: name ?? definition.shape.rawValue, summary: summary ?? "", shape: definition.shape,
                    axes: axes,
                    zips: try members["zip"].map { node throws(InputErrors) in
                        try ParameterZip.list(in: node, of: definition, given: Set(axes.keys), names)
                    } ?? [], backends: backends ?? [],
                    sampleKinds: (kinds ?? nil) ?? definition.usualKinds, skips: skips ?? [],
                    expectations: expectations ?? [])
                try read.expandCells(line: node.value.line)
                spec = read
            }
        }
        try mistakes.check()
        // Every cause of a missing part was noted as a mistake.
        return spec!
    }

    private static func checkSchemaReference(_ node: JSONNode) throws(InputErrors) {
        let text = try node.string("the schema's path as a string")
        let isReference = text == schemaPath || text.hasSuffix("/" + schemaPath)
        guard isReference, !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw node.error(
                "\(JSONText.excerpt(text)) is not the schema of workloads", remedy: "write \"\(schemaPath)\"")
        }
    }

    /// The name of a workload or of a part of one.
    static func name(_ node: JSONNode, of thing: String, limit: Int) throws(InputErrors) -> String {
        let text = try node.string("a name as a string")
        guard isName(text, limit: limit) else {
            throw node.error(
                "\(JSONText.excerpt(text)) is not a valid \(thing) name",
                remedy: "use 1 to \(limit) of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit")
        }
        return text
    }

    static func isName(_ text: String, limit: Int) -> Bool {
        let lettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars
        let scalars = text.unicodeScalars
        guard let first = scalars.first, lettersAndDigits.contains(first), scalars.count <= limit else { return false }
        return scalars.allSatisfy { lettersAndDigits.contains($0) || "._-".unicodeScalars.contains($0) }
    }

    /// Decodes a shape. A misspelled name is a mistake; if the nearest shape has all parameters of the file, the rest
    /// of the file is checked against it.
    private static func shape(_ node: JSONNode, parameters: JSONNode?, _ mistakes: Mistakes) -> Shape? {
        let names = Shape.allCases.map(\.rawValue)
        if let name = mistakes.keep({ () throws(InputErrors) in
            try node.choice("shape", among: names, from: "opbench shapes")
        }) {
            return Shape(rawValue: name)
        }
        guard case .string(let text) = node.value.content,
            let near = Suggestion.nearest(to: text, among: names).flatMap(Shape.init(rawValue:)),
            let named = try? parameters?.members("")
        else { return nil }
        return named.allSatisfy { ShapeDefinition.of(near).parameter(named: $0.name) != nil } ? near : nil
    }

    private static func axes(
        _ node: JSONNode, definition: ShapeDefinition, _ names: BackendNames
    ) throws(InputErrors) -> [String: [ParameterValue]] {
        try definition.values(in: node) { parameter, node throws(InputErrors) in
            try parameter.values(from: node, names)
        }
    }

    private static func sampleKinds(
        _ members: [String: JSONNode], definition: ShapeDefinition?
    ) throws(InputErrors) -> Set<SampleKind>? {
        guard let node = members["sample_kinds"] else { return nil }
        let mistakes = Mistakes()
        let names = SampleKind.allCases.map(\.rawValue)
        var kinds: Set<SampleKind> = []
        for element in try node.elements("a list of sample kinds") {
            let name = mistakes.keep { () throws(InputErrors) in try element.choice("sample kind", among: names) }
            guard let kind = name.flatMap(SampleKind.init(rawValue:)) else { continue }
            if let definition, !definition.kinds.contains(kind) {
                mistakes.note(
                    element.mistake(
                        "the shape \(definition.shape.rawValue) has no \(kind.rawValue) samples",
                        remedy: "it has " + definition.kindNames.joined(separator: ", ")))
            } else if !kinds.insert(kind).inserted {
                mistakes.note(
                    element.mistake("\(kind.rawValue) appears twice in the list", remedy: "keep one of the two"))
            }
        }
        try mistakes.check()
        return kinds
    }
}

/// The names of backends and bodies that a file may have.
public enum BackendNames: Sendable {
    /// The names that this program knows.
    case known
    /// Any name, as in files that another program wrote.
    case recorded
}

extension BackendID {
    /// Decodes a list of backends, each at most once.
    static func list(_ node: JSONNode, for shape: Shape?, _ names: BackendNames) throws(InputErrors) -> [BackendID] {
        let mistakes = Mistakes()
        var backends: [BackendID] = []
        var seen: Set<BackendID> = []
        for element in try node.elements("a list of backends") {
            let read = mistakes.keep { () throws(InputErrors) in try BackendID(checking: element, for: shape, names) }
            guard let backend = read else { continue }
            if seen.insert(backend).inserted {
                backends.append(backend)
            } else {
                mistakes.note(
                    element.mistake("\(backend.rawValue) appears twice in the list", remedy: "keep one of the two"))
            }
        }
        try mistakes.check()
        return backends
    }

    /// Decodes a backend's name, which must be known and defined for the shape; a recorded one need not be known.
    ///
    /// - Parameter shape: nil if the file has no valid shape.
    init(checking node: JSONNode, for shape: Shape?, _ names: BackendNames) throws(InputErrors) {
        if names == .recorded {
            let recorded = BackendID(rawValue: try node.string("a backend as a string"))
            if recorded.isWellFormed, BackendDefinition.of(recorded) == nil {
                self = recorded
                return
            }
        }
        let name = try node.choice(
            "backend", among: BackendID.known.map(\.rawValue), from: BackendDefinition.listing,
            note: BackendDefinition.declaredElsewhere)
        if let shape {
            let known = BackendID.known(for: shape)
            guard known.contains(where: { $0.rawValue == name }) else {
                throw node.error(
                    "the backend \(name) is not defined for the shape \(shape.rawValue)",
                    remedy: "choose one of "
                        + Suggestion.list(known.map(\.rawValue), from: "opbench shapes \(shape.rawValue)"))
            }
        }
        self.init(rawValue: name)
    }
}

/// The limits of texts in a workload file, in characters.
enum TextLimits {
    static let name = 64
    /// A summary or a reason.
    static let sentence = 200
}
