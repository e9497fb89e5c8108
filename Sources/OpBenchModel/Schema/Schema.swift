/// A JSON Schema (2020-12): its keywords in order, and the definitions that they refer to.
struct Schema: ExpressibleByDictionaryLiteral {
    private var keywords: [(String, JSONValue)]
    private var definitions: [String: JSONValue] = [:]

    init(dictionaryLiteral keywords: (String, JSONValue)...) { self.keywords = keywords }

    static func + (left: Schema, right: Schema) -> Schema {
        var both = left
        both.keywords += right.keywords
        both.definitions.merge(right.definitions) { first, _ in first }
        return both
    }

    /// A keyword whose value has other schemas in it.
    static func keyword(_ name: String, _ parts: [Schema], _ value: ([JSONValue]) -> JSONValue) -> Schema {
        var schema: Schema = [name: value(parts.map(\.json))]
        for part in parts { schema.definitions.merge(part.definitions) { first, _ in first } }
        return schema
    }

    static func anyOf(_ parts: Schema...) -> Schema { keyword("anyOf", parts) { JSONValue(.array($0)) } }

    static func properties(_ members: [(name: String, schema: Schema)]) -> Schema {
        keyword("properties", members.map(\.schema)) { .members(Array(zip(members.map(\.name), $0))) }
    }

    /// The same schema, which others refer to by a name.
    func named(_ name: String) -> Schema {
        var schema: Schema = ["$ref": .string("#/$defs/" + name)]
        schema.definitions = definitions.merging([name: json]) { first, _ in first }
        return schema
    }

    /// The schema without its definitions.
    private var json: JSONValue { .members(keywords) }

    /// The text of a whole file, ending in a line feed.
    func document(title: String, _ description: String) -> String {
        let head: Schema = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(title),
            "description": .string(description + " " + Self.commentRule),
        ]
        let used: Schema = definitions.isEmpty ? [:] : ["$defs": .members(definitions.sorted { $0.key < $1.key })]
        return JSONText.write((head + self + used).json)
    }

    // MARK: Parts of several schemas

    private static let commentRule =
        "A member of any object whose name begins with \(JSONNode.commentMark) is a comment and is ignored."
    /// The names of comments, as a pattern.
    static let comments = "^\(JSONNode.commentMark)"

    /// An object with the listed members and comments only.
    static let closed: Schema = [
        "type": "object", "additionalProperties": false, "patternProperties": .object((comments, true)),
    ]

    /// At least one member that is not a comment.
    static let notEmpty: Schema = ["not": .object(("propertyNames", .object(("pattern", .string(comments)))))]

    /// Text without control characters. It is needed beside a pattern that ends in `$`, because some validators let `$`
    /// match before a final line feed.
    static let oneLine: Schema = ["not": .object(("pattern", "[\\u0000-\\u001F]"))]
}
