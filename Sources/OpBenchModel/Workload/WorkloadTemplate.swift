/// A workload of a shape with an explanation of each parameter, derived from the definitions. Parameters have their
/// defaults unless other values are given.
public struct WorkloadTemplate: Sendable {
    private let definition: ShapeDefinition
    private let name: String
    private let backends: [BackendID]
    private let values: [String: ParameterValue]
    private let notes: [String]

    /// - Parameters:
    ///   - name: the file's name; the workload is named after it as far as valid.
    ///   - backends: the backends that support the shape.
    ///   - values: by parameter, those that are not the defaults.
    ///   - notes: sentences about the values, for the file's first comment.
    public init(
        _ definition: ShapeDefinition, file: String?, backends: [BackendID], values: [String: ParameterValue] = [:],
        notes: [String] = []
    ) {
        self.definition = definition
        self.backends = backends
        self.values = values
        self.notes = notes
        let stem = file?.split(separator: "/").last.map { String($0.prefix { $0 != "." }) }
        let isName = stem.map { PlainName.isValid($0) } ?? false
        name = isName ? stem! : definition.shape.rawValue
    }

    /// The whole file. It is a valid workload of one cell.
    public var text: String {
        JSONText.write(
            .members(
                [
                    Self.comment("", introduction),
                    ("name", .string(name)), ("summary", .string(definition.summary)),
                    Self.comment("shape", ["`opbench describe` lists all of them."]),
                    ("shape", .string(definition.shape.rawValue)), ("parameters", parameters),
                    Self.comment("backends", known.map { "\($0.id.rawValue): \($0.summary)" }),
                    ("backends", .strings(backends.map(\.rawValue))),
                    Self.comment(
                        "sample_kinds",
                        [
                            "The kinds of sample to take; by default, all that the shape has except "
                                + "\(SampleKind.onRequest)."
                        ]),
                    ("sample_kinds", .strings(ShapeDefinition.names(of: definition.usualKinds))),
                ] + rules))
    }

    /// An example workload without comments, on few lines.
    public var example: String {
        JSONText.write(
            .object(
                ("name", .string(name)), ("summary", .string("What the workload shows, in one line")),
                ("shape", .string(definition.shape.rawValue)),
                (
                    "parameters",
                    .members(
                        definition.parameters.filter { $0.name != "seed" }.map { ($0.name, $0.defaultValue.json) })
                ),
                ("backends", .strings(backends.map(\.rawValue)))))
    }

    private var introduction: [String] {
        let given = values.keys.sorted().joined(separator: ", ")
        return [
            "A member whose name begins with \(JSONNode.commentMark) is a comment and is ignored.",
            "A parameter has one value or a list of them; lists multiply into cells: [1, 4] makes two.",
            "Every parameter here\(given.isEmpty ? "" : " but \(given)") has its default value, and may be left out.",
            "`opbench validate FILE` checks the file, `opbench list FILE` shows the cells, `opbench run FILE` measures.",
        ] + notes
    }

    private var known: [BackendDefinition] {
        BackendID.known(for: definition.shape).compactMap(BackendDefinition.of)
    }

    private var parameters: JSONValue {
        .members(
            definition.parameters.flatMap { parameter in
                [
                    Self.comment(parameter.name, [parameter.summary, parameter.facts]),
                    (parameter.name, (values[parameter.name] ?? parameter.defaultValue).json),
                ]
            })
    }

    /// Example rules, commented out because a workload needs none.
    private var rules: [(String, JSONValue)] {
        guard let backend = backends.last else { return [] }
        let condition = definition.parameters.first { $0.defaultValue.integer != nil }
        let when = condition.map { [("when", JSONValue.object(($0.name, .object(("above", $0.defaultValue.json)))))] }
        func rule(_ more: (String, JSONValue)..., reason: String) -> JSONValue {
            .list(
                .members([("backend", .string(backend.rawValue))] + (when ?? []) + more + [("reason", .string(reason))])
            )
        }
        return [
            Self.comment("skip and expect", ["Remove the mark before the names to enable the rules."]),
            ("\(JSONNode.commentMark) skip", rule(reason: "Why these cells are left out on this backend.")),
            (
                "\(JSONNode.commentMark) expect",
                rule(("status", .string(SampleStatus.timeout.rawValue)), reason: "Why this does not fail the run.")
            ),
        ]
    }

    // MARK: Comments

    private static let width = 92

    /// A comment on the member that follows it, wrapped to `width`.
    private static func comment(_ name: String, _ sentences: [String]) -> (String, JSONValue) {
        let lines = sentences.flatMap { $0.filledLines(width: width) }
        let mark = name.isEmpty ? JSONNode.commentMark : "\(JSONNode.commentMark) \(name)"
        return (mark, lines.count == 1 ? .string(lines[0]) : .strings(lines))
    }
}
