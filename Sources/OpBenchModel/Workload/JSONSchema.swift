/// The published JSON Schema (2020-12) of workload files, generated from the definitions that the decoder reads.
///
/// It covers structure: keys, types, ranges, and the parameters and backends of each shape. The decoder alone checks
/// what a schema cannot express: duplicate keys, one weight key in two spellings, the size of the product, the lengths
/// of zipped lists, values that cannot be combined in a cell, names that two files share.
public enum JSONSchema {
    /// The schema as text, ending in a line feed: the content of `workloads/schema/workload.schema.json`.
    public static func workload() -> String { JSONText.write(root) }

    private static var root: JSONValue {
        .object(
            ("$schema", "https://json-schema.org/draft/2020-12/schema"),
            ("title", "An opbench workload"),
            (
                "description",
                .string(
                    "One workload: a shape, its parameters, and how it is run and measured. Lists multiply into cells. "
                        + commentRule)
            ),
            ("type", "object"),
            ("required", .strings(WorkloadDecoder.requiredKeys)),
            noOtherMembers, comments,
            ("properties", properties),
            ("allOf", JSONValue(.array(Shape.allCases.map(conditional)))),
            ("$defs", definitions))
    }

    // MARK: Comments

    /// The rule for comments in workloads and policies.
    static let commentRule =
        "A member of any object whose name begins with \(JSONNode.commentMark) is a comment and is ignored."
    static let commentPattern = "^\(JSONNode.commentMark)"
    static let comments: (String, JSONValue) = ("patternProperties", .object((commentPattern, true)))
    /// No members except the listed ones and comments.
    static let noOtherMembers: (String, JSONValue) = ("additionalProperties", false)
    /// At least one member that is not a comment.
    private static let notEmpty: (String, JSONValue) = (
        "not", .object(("propertyNames", .object(("pattern", .string(commentPattern)))))
    )

    // MARK: Common to all shapes

    private static var properties: JSONValue {
        .object(
            (
                "$schema",
                .object(
                    ("description", "The path of this schema, for editors."), ("type", "string"),
                    ("pattern", "(^|/)schema/workload\\.schema\\.json$"), ("not", noControlCharacters))
            ),
            (
                "name",
                name(
                    "Names the workload in rows and cell ids; unique within a run.", limit: TextLimits.name)
            ),
            ("summary", sentence("What the workload shows, in one line.")),
            (
                "shape",
                .object(
                    ("description", .string("The kind of workload. " + shapeSummaries)),
                    ("enum", .strings(Shape.allCases.map(\.rawValue))))
            ),
            (
                "parameters",
                .object(("description", "The shape's parameters; omitted ones have defaults."), ("type", "object"))
            ),
            (
                "zip",
                list(
                    "Parameters whose lists are combined value by value, not multiplied; with all other lists they "
                        + "multiply.", of: .object(("type", "object")), isUnique: false)
            ),
            ("backends", list("The backends to run. " + backendSummaries, of: backendNames(BackendID.known))),
            ("sample_kinds", kinds("The kinds of sample to take; by default all except \(SampleKind.onRequest).")),
            ("skip", list("Cells that a backend is not run on.", of: rule(hasStatus: false), isUnique: false)),
            (
                "expect",
                list(
                    "Known bad statuses, which do not fail the run.", of: rule(hasStatus: true), isUnique: false)
            ))
    }

    private static func kinds(_ description: String) -> JSONValue {
        list(description, of: .object(("enum", .strings(SampleKind.allCases.map(\.rawValue)))))
    }

    private static var shapeSummaries: String {
        Shape.allCases.map { "\($0.rawValue): \(ShapeDefinition.of($0).summary)" }.joined(separator: " ")
    }

    private static var backendSummaries: String {
        BackendDefinition.all.map { "\($0.id.rawValue): \($0.summary)" }.joined(separator: " ")
    }

    /// The pattern that sentences and names must not match. It is needed beside a pattern that ends in `$`, because
    /// some validators let `$` match before a final line feed.
    static var noControlCharacters: JSONValue { .object(("pattern", "[\\u0000-\\u001F]")) }

    private static func name(_ description: String, limit: Int) -> JSONValue {
        .object(
            ("description", .string(description)), ("type", "string"), ("pattern", "^[a-z0-9][a-z0-9._-]*$"),
            ("maxLength", .integer(limit)), ("not", noControlCharacters))
    }

    private static func sentence(_ description: String) -> JSONValue {
        .object(
            ("description", .string(description)), ("type", "string"), ("minLength", .integer(1)),
            ("maxLength", .integer(TextLimits.sentence)), ("not", noControlCharacters))
    }

    /// A list of distinct entries, or of rules.
    private static func list(_ description: String, of items: JSONValue, isUnique: Bool = true) -> JSONValue {
        let unique: [(String, JSONValue)] =
            isUnique ? [("uniqueItems", true)] : [("maxItems", .integer(RuleDecoder.ruleLimit))]
        return .members(
            [("description", .string(description)), ("type", "array"), ("minItems", .integer(1))] + unique
                + [("items", items)])
    }

    private static func backendNames(_ backends: [BackendID]) -> JSONValue {
        .object(("enum", .strings(backends.map(\.rawValue))))
    }

    // MARK: Specific to a shape

    /// Checks the rest of the file against the definitions of its shape.
    private static func conditional(_ shape: Shape) -> JSONValue {
        let name = shape.rawValue
        func items(_ definition: String) -> JSONValue { .object(("items", .reference("\(name).\(definition)"))) }
        let isShape = JSONValue.object(("shape", .object(("const", .string(name)))))
        let held = JSONValue.object(
            ("parameters", .reference("\(name).parameters")), ("zip", items("zip")), ("backends", items("backend")),
            ("sample_kinds", items("metric")), ("skip", items("rule")),
            ("expect", items("rule")))
        return .object(
            ("if", .object(("properties", isShape), ("required", .strings(["shape"])))),
            ("then", .object(("properties", held))))
    }

    /// The definitions that the conditionals refer to: values, lists of values and conditions, each once.
    private static var definitions: JSONValue {
        let shapes = Shape.allCases.map(ShapeDefinition.of)
        let values = shapes.flatMap(\.parameters).map { (name: name(of: $0.kind), definition: $0) }
        var known: Set<String> = []
        return .members(
            shapes.flatMap(definitions)
                + values.filter { known.insert($0.name).inserted }.flatMap {
                    definitions(of: $0.definition, named: $0.name)
                }
                + [("bounds", bounds), RecordedLoad.packedSchema] + bodyDefinitions)
    }

    private static func definitions(of definition: ShapeDefinition) -> [(String, JSONValue)] {
        let shape = definition.shape.rawValue
        let backend = JSONValue.reference("\(shape).backend")
        let all = JSONValue.object(("const", .string(RuleBackends.wildcard)))
        let backends = JSONValue.object(("anyOf", .list(all, backend, list("Several backends.", of: backend))))
        let rule = JSONValue.object(("backend", backends), ("when", .reference("\(shape).when")))
        return [
            ("\(shape).parameters", parameters(of: definition)),
            ("\(shape).zip", zip(of: definition)),
            ("\(shape).backend", backendNames(BackendID.known(for: definition.shape))),
            ("\(shape).metric", .object(("enum", .strings(definition.kindNames)))),
            ("\(shape).rule", .object(("properties", rule))),
            ("\(shape).when", conditions(of: definition)),
        ]
    }

    /// Definitions that all parameters of a kind share: one value, distinct values, and a condition on one.
    private static func definitions(of definition: ParameterDefinition, named name: String) -> [(String, JSONValue)] {
        let one = JSONValue.reference(name)
        let several = JSONValue.object(
            ("type", "array"), ("minItems", .integer(1)), ("uniqueItems", true), ("items", one))
        return [
            (name, value(of: definition)), ("values.\(name)", .object(("anyOf", .list(one, several)))),
            ("when.\(name)", condition(on: definition, one)),
        ]
    }

    /// The name of the values of a kind, equal for equal kinds.
    private static func name(of kind: ParameterDefinition.Kind) -> String {
        switch kind {
        case .integer(let range): "integer.\(range.lowerBound).\(range.upperBound)"
        case .number(let range): "number.\(Int(range.lowerBound)).\(Int(range.upperBound))"
        case .choice(let choices): choices.joined(separator: ".")
        case .integerOr(let keyword, let range): "\(keyword).\(range.lowerBound).\(range.upperBound)"
        case .weights(.fixed(let keys)): "weights.\(keys.joined(separator: "."))"
        case .weights(.number): "weights.number"
        case .phases: "phases"
        case .recording: "recording"
        case .body: "body"
        }
    }

    private static func parameters(of definition: ShapeDefinition) -> JSONValue {
        .object(
            ("description", .string(definition.summary)), ("type", "object"), noOtherMembers, comments,
            ("properties", .members(definition.parameters.map { ($0.name, parameter($0)) })))
    }

    /// The schema of a zip: lists of values by parameter.
    private static func zip(of definition: ShapeDefinition) -> JSONValue {
        let lists = definition.parameters.filter(\.takesList).map { parameter in
            (
                parameter.name,
                JSONValue.object(
                    ("type", "array"), ("minItems", .integer(1)), ("items", .reference(name(of: parameter.kind))))
            )
        }
        return .object(
            ("description", "Lists of the same length; values may repeat."), ("type", "object"),
            notEmpty, noOtherMembers, comments, ("properties", .members(lists)))
    }

    /// One value, or also a list of values if lists are allowed.
    private static func parameter(_ definition: ParameterDefinition) -> JSONValue {
        let unit = definition.unit.isEmpty ? "" : " Unit: \(definition.unit)."
        let values = (definition.takesList ? "values." : "") + name(of: definition.kind)
        return .object(
            ("description", .string(definition.summary + unit)), ("default", definition.defaultValue.json),
            ("$ref", .string("#/$defs/" + values)))
    }

    private static func value(of definition: ParameterDefinition) -> JSONValue {
        switch definition.kind {
        case .integer(let range): return integer(in: range)
        case .number(let range):
            return .object(
                ("type", "number"), ("minimum", ParameterValue.number(range.lowerBound).json),
                ("maximum", ParameterValue.number(range.upperBound).json))
        case .choice(let choices): return .object(("enum", .strings(choices)))
        case .integerOr(let keyword, let range):
            return .object(("anyOf", .list(.object(("const", .string(keyword))), integer(in: range))))
        case .weights(let keys):
            let weight = JSONValue.object(
                ("type", "number"), ("minimum", .integer(0)),
                ("maximum", .integer(Int(ParameterDefinition.weightLimit))))
            let allZero = JSONValue.object(comments, ("additionalProperties", .object(("const", .integer(0)))))
            let most = JSONValue.integer(ParameterDefinition.weightCountLimit)
            return .members(
                [("type", "object"), ("maxProperties", most), ("not", allZero)] + keys.schema(ofWeight: weight))
        case .phases:
            return .object(
                ("type", "array"), ("minItems", .integer(1)), ("maxItems", .integer(Phase.countLimit)),
                ("items", phase))
        case .recording: return RecordedLoad.schema
        case .body: return body
        }
    }

    private static func integer(in range: ClosedRange<Int>) -> JSONValue {
        .object(
            ("type", "integer"), ("minimum", .integer(range.lowerBound)), ("maximum", .integer(range.upperBound)))
    }

    /// A phase of a sequence: its parameters are those of its shape, with one value each.
    private static var phase: JSONValue {
        let held = ShapeDefinition.phaseShapes.map { shape in
            let parameters = ShapeDefinition.of(shape).parameters.map {
                ($0.name, JSONValue.reference(name(of: $0.kind)))
            }
            let isShape = JSONValue.object(("shape", .object(("const", .string(shape.rawValue)))))
            let object = JSONValue.object(noOtherMembers, comments, ("properties", .members(parameters)))
            return JSONValue.object(
                ("if", .object(("properties", isShape), ("required", .strings(["shape"])))),
                ("then", .object(("properties", .object(("parameters", object))))))
        }
        return .object(
            ("type", "object"), ("required", .strings(["name", "shape"])), noOtherMembers, comments,
            (
                "properties",
                .object(
                    ("name", name("Names the phase in rows.", limit: Phase.nameLimit)),
                    ("shape", .object(("enum", .strings(ShapeDefinition.phaseShapes.map(\.rawValue))))),
                    ("parameters", .object(("type", "object"))))
            ), ("allOf", JSONValue(.array(held))))
    }

    // MARK: Rules

    /// The common part of all rules; a shape adds its backends and conditions.
    private static func rule(hasStatus: Bool) -> JSONValue {
        let known: [(String, JSONValue)] = [
            ("backend", true), ("when", true),
            ("status", .object(("enum", .strings(RuleDecoder.expectable.map(\.rawValue))))),
            ("reason", sentence("The reason, in one line.")),
        ].filter { hasStatus || $0.0 != "status" }
        return .object(
            ("type", "object"), ("required", .strings(known.map(\.0).filter { $0 != "when" })),
            noOtherMembers, comments, ("properties", .members(known)))
    }

    private static func conditions(of definition: ShapeDefinition) -> JSONValue {
        .object(
            ("description", "Conditions on the cell, which must all hold; without it, the rule applies to every cell."),
            ("type", "object"), notEmpty, noOtherMembers, comments,
            (
                "properties",
                .members(definition.parameters.map { ($0.name, .reference("when.\(name(of: $0.kind))")) })
            ))
    }

    /// The bounds of a condition on a number; the parameter checks `equals` elsewhere.
    private static var bounds: JSONValue {
        let bound = JSONValue.object(
            ("type", "number"), ("minimum", .integer(-RuleDecoder.boundLimit)),
            ("maximum", .integer(RuleDecoder.boundLimit)))
        return .object(
            ("type", "object"), notEmpty, noOtherMembers, comments,
            ("properties", .object(("equals", true), ("below", bound), ("above", bound))))
    }

    /// A bare value, or bounds.
    private static func condition(on definition: ParameterDefinition, _ value: JSONValue) -> JSONValue {
        let equals = JSONValue.object(("equals", value))
        let object =
            definition.isNumeric
            ? JSONValue.object(("$ref", "#/$defs/bounds"), ("properties", equals))
            : .object(("type", "object"), notEmpty, noOtherMembers, comments, ("properties", equals))
        switch definition.kind {
        case .weights, .recording: return object
        case .body: return .object(("anyOf", .list(bodyNames, object)))
        default: return .object(("anyOf", .list(value, object)))
        }
    }
}

extension ParameterDefinition.WeightKeys {
    fileprivate func schema(ofWeight weight: JSONValue) -> [(String, JSONValue)] {
        switch self {
        case .fixed(let keys):
            [JSONSchema.noOtherMembers, JSONSchema.comments, ("properties", .members(keys.map { ($0, weight) }))]
        case .number:
            [
                JSONSchema.noOtherMembers,
                (
                    "propertyNames",
                    .object(
                        (
                            "anyOf",
                            .list(
                                .object(("pattern", .string(JSONSchema.commentPattern))),
                                .object(("not", .object(("pattern", "\\n")))))
                        ))
                ),
                (
                    "patternProperties",
                    .object(
                        (JSONSchema.commentPattern, true), ("^(0(\\.[0-9]{1,6})?|1(\\.0{1,6})?)$", weight))
                ),
            ]
        }
    }
}
