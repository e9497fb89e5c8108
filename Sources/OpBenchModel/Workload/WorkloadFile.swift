/// A workload file: its fields, and what is read of it so far. A field's format may depend on the shape and on the
/// fields before it.
struct WorkloadFile: Sendable {
    /// Nil if the file has no valid shape; then what depends on it is not checked.
    private var shape: ShapeDefinition?
    private var name: String?
    private var summary = ""
    private var axes: [String: [ParameterValue]]?
    private var zips: [ParameterZip]?
    private var backends: [BackendID] = []
    private var kinds: Set<SampleKind>?
    private var skips: [CellRule] = []
    private var expectations: [CellRule] = []
    private var answer: [CellRule] = []
    /// The cells' lists, expanded; nil until they could be.
    private var spec: WorkloadSpec?

    /// The file that a decoder reads, or the one of the schema.
    static func format(text: String = "", file: String = "", guess: ShapeDefinition? = nil) -> Format<WorkloadSpec> {
        let fields: [Field<WorkloadFile>] = [
            Field("$schema", schemaReference, "The path of this schema, for editors.") { _, _ in },
            Field(
                "name", .name(of: "workload", atMost: 64),
                "Names the workload in rows and cell ids; unique within a run.", isRequired: true
            ) { $0.name = $1 },
            Field(
                "summary", .sentence("a one-line summary"), "What the workload shows, in one line.", isRequired: true
            ) { $0.summary = $1 },
            Field(
                "shape", Shape.format(among: Shape.allCases, from: "opbench describe"),
                "The kind of workload. " + shapeSummaries, isRequired: true
            ) { $0.shape = .of($1) },
            Field(
                "parameters", of: { parameters(of: $0.shape) },
                "The shape's parameters; omitted ones have defaults.", isRequired: true, keep: { $0.axes = $1 }),
            Field(
                "zip", of: { ParameterZip.list(of: $0.shape, given: Set(($0.axes ?? [:]).keys)) },
                "Parameters whose lists are combined value by value, not multiplied; with all other lists they multiply.",
                keep: { $0.zips = $1 }),
            Field(
                "backends", of: { BackendID.format(for: $0.shape).distinct("a list of backends") },
                "The backends to run. " + backendSummaries, isRequired: true, keep: { $0.backends = $1 }),
            Field(
                "sample_kinds", of: { kinds(of: $0.shape).distinct("a list of sample kinds") },
                "The kinds of sample to take; by default all except \(SampleKind.onRequest).",
                keep: { $0.kinds = Set($1) }),
            Field(
                "skip", of: { CellRule.list("a list of skip rules", of: $0.shape, hasStatus: false) },
                "Cells that a backend is not run on.", keep: { $0.skips = $1 }),
            Field(
                "expect", of: { CellRule.list("a list of expectations", of: $0.shape, hasStatus: true) },
                "Known bad statuses, which do not fail the run.", keep: { $0.expectations = $1 }),
            Field(
                "answer", of: { CellRule.names(on: $0.shape) },
                "Words for cells, in the sentence that a run ends with.", keep: { $0.answer = $1 }),
        ]
        var draft = WorkloadFile()
        draft.shape = guess
        return Format.object(
            "an object with the keys of a workload", draft, fields, from: "opbench describe workload-schema",
            cases: ShapeDefinition.all.map { definition in
                var file = WorkloadFile()
                file.shape = definition
                return ("shape", definition.shape.rawValue, file)
            },
            last: { draft, root throws(InputErrors) in
                guard let shape = draft.shape, let axes = draft.axes, draft.zips != nil || root["zip"] == nil
                else { return }
                var spec = WorkloadSpec(
                    file: file, text: text, sha256: SHA256.hexadecimal(of: Array(text.utf8)),
                    name: draft.name ?? shape.shape.rawValue, summary: draft.summary, shape: shape.shape, axes: axes,
                    zips: draft.zips ?? [], backends: draft.backends, sampleKinds: draft.kinds ?? shape.usualKinds,
                    skips: draft.skips, expectations: draft.expectations, answer: draft.answer)
                try spec.expandCells(line: root["parameters"]?.value.line)
                draft.spec = spec
            }
        ).map { $0.spec! }
    }

    /// The shape that a misspelt name means, if it has all parameters of the file: then the rest is checked against it.
    static func guess(_ root: JSONNode) -> ShapeDefinition? {
        guard case .string(let text)? = root["shape"]?.value.content,
            let near = Suggestion.nearest(to: text, among: Shape.allCases.map(\.rawValue)),
            let definition = Shape(rawValue: near).map(ShapeDefinition.of),
            let named = try? root["parameters"]?.members(""),
            named.allSatisfy({ definition.parameter(named: $0.name) != nil })
        else { return nil }
        return definition
    }

    // MARK: Formats of fields

    private static var shapeSummaries: String {
        ShapeDefinition.all.map { "\($0.shape.rawValue): \($0.summary)" }.joined(separator: " ")
    }

    private static var backendSummaries: String {
        BackendDefinition.all.map { "\($0.id.rawValue): \($0.summary)" }.joined(separator: " ")
    }

    private static var schemaReference: Format<String> {
        let path = "schema/workload.schema.json"
        return Format.text("the schema's path as a string")
            .checked(["pattern": "(^|/)schema/workload\\.schema\\.json$"] + .oneLine) {
                text, node throws(InputErrors) in
                guard text == path || text.hasSuffix("/" + path), text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
                else {
                    throw node.error(
                        "\(JSONText.excerpt(text)) is not the schema of workloads", remedy: "write \"\(path)\"")
                }
                return text
            }
    }

    private static func parameters(of shape: ShapeDefinition?) -> Format<[String: [ParameterValue]]> {
        guard let shape else { return .any("an object of parameters", ["type": "object"], [:]) }
        return shape.object { $0.values }
    }

    private static func kinds(of shape: ShapeDefinition?) -> Format<SampleKind> {
        let all = Format.choice(SampleKind.allCases.map(\.rawValue), "sample kind")
        let useful = shape?.kindNames ?? SampleKind.allCases.map(\.rawValue)
        return Format(all.allowed, schema: ["enum": .strings(useful)]) { node throws(InputErrors) in
            let kind = try all.read(node)
            guard useful.contains(kind) else {
                throw node.error(
                    "the shape \(shape?.shape.rawValue ?? "") has no \(kind) samples",
                    remedy: "it has " + useful.joined(separator: ", "))
            }
            return SampleKind(rawValue: kind)!
        }
    }
}

extension WorkloadSpec {
    /// The schema of workload files as text, ending in a line feed: the content of
    /// `workloads/schema/workload.schema.json`.
    ///
    /// It covers structure: keys, types, ranges, and the parameters and backends of each shape. The decoder alone checks
    /// what a schema cannot express: duplicate keys, one weight key in two spellings, the size of the product, the
    /// lengths of zipped lists, values that cannot be combined in a cell, names that two files share.
    public static func schema() -> String {
        WorkloadFile.format().schema.document(
            title: "An opbench workload",
            "One workload: a shape, its parameters, and how it is run and measured. Lists multiply into cells.")
    }
}

// MARK: - Formats of several fields

extension Shape {
    static func format(among shapes: [Shape], from command: String) -> Format<Shape> {
        Format.choice(shapes.map(\.rawValue), "shape", from: command).map { Shape(rawValue: $0)! }
    }
}

extension BackendID {
    /// A backend that is known and defined for the shape; a recorded one need not be known.
    ///
    /// - Parameter shape: nil if the file has no valid shape.
    static func format(for shape: ShapeDefinition?) -> Format<BackendID> {
        let all = Format.choice(
            BackendID.known.map(\.rawValue), "backend", from: BackendDefinition.listing,
            note: BackendDefinition.declaredElsewhere)
        let known = (shape.map { BackendID.known(for: $0.shape) } ?? BackendID.known).map(\.rawValue)
        return Format(all.allowed, schema: ["enum": .strings(known)]) { node throws(InputErrors) in
            if node.names == .recorded, case .string(let name) = node.value.content {
                let recorded = BackendID(rawValue: name)
                if recorded.isWellFormed, BackendDefinition.of(recorded) == nil { return recorded }
            }
            let name = try all.read(node)
            guard let shape, !known.contains(name) else { return BackendID(rawValue: name) }
            throw node.error(
                "the backend \(name) is not defined for the shape \(shape.shape.rawValue)",
                remedy: "choose one of \(Suggestion.list(known, from: shape.listing))")
        }.shared(as: shape.map { "\($0.shape.rawValue).backend" } ?? "backend")
    }
}

extension Format where Value: RawRepresentable<String> & Sendable {
    /// A list in which a value appears at most once.
    func distinct(_ allowed: String) -> Format<[Value]> { list(allowed) { $0.rawValue } }
}
