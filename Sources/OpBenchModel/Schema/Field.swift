/// A member of an object in a file: its name, its format, its meaning, and where its value goes.
struct Field<Root>: Sendable {
    let name: String
    /// A sentence; empty if the name says enough.
    let meaning: @Sendable () -> String
    let isRequired: Bool
    /// Whether the format depends on the fields before it.
    let isDependent: Bool
    /// Nil for a member that belongs elsewhere.
    let schema: @Sendable (Root) -> Schema?
    let read: @Sendable (JSONNode, inout Root) throws(InputErrors) -> Void
}

extension Field {
    init<Value>(
        _ name: String, _ format: Format<Value>, _ meaning: @autoclosure @escaping @Sendable () -> String = "",
        isRequired: Bool = false, keep: @escaping @Sendable (inout Root, Value) -> Void
    ) {
        self.init(
            name: name, meaning: meaning, isRequired: isRequired, isDependent: false, schema: { _ in format.schema },
            read: { node, root throws(InputErrors) in keep(&root, try format.read(node)) })
    }

    /// A member whose format depends on the fields before it.
    init<Value>(
        _ name: String, of format: @escaping @Sendable (Root) -> Format<Value>,
        _ meaning: @autoclosure @escaping @Sendable () -> String = "",
        isRequired: Bool = false, keep: @escaping @Sendable (inout Root, Value) -> Void
    ) {
        self.init(
            name: name, meaning: meaning, isRequired: isRequired, isDependent: true, schema: { format($0).schema },
            read: { node, root throws(InputErrors) in keep(&root, try format(root).read(node)) })
    }

    /// A member that belongs to other objects, as its mistake says.
    init(_ name: String, misplaced message: String, remedy: String) {
        self.init(
            name: name, meaning: { "" }, isRequired: false, isDependent: false, schema: { _ in nil },
            read: { node, _ throws(InputErrors) in throw node.error("\(name) is \(message)", remedy: remedy) })
    }

    /// The field as one of a value that has `Root` as a part.
    func inside<Whole>(_ path: any WritableKeyPath<Whole, Root> & Sendable) -> Field<Whole> {
        Field<Whole>(
            name: name, meaning: meaning, isRequired: isRequired, isDependent: isDependent,
            schema: { schema($0[keyPath: path]) },
            read: { node, whole throws(InputErrors) in try read(node, &whole[keyPath: path]) })
    }

    /// The schema as a property of an object; nil for a member that belongs elsewhere.
    fileprivate func property(_ root: Root) -> (String, Schema)? {
        let meaning = meaning()
        let described: Schema = meaning.isEmpty ? [:] : ["description": .string(meaning)]
        return schema(root).map { (name, described + $0) }
    }
}

extension Format where Value: Sendable {
    /// An object of fields, and of comments.
    ///
    /// - Parameters:
    ///   - draft: the value with the defaults of all fields, in which they are kept one after the other.
    ///   - command: the command that prints all fields.
    ///   - remedy: the advice if a field is missing; nil lists the required ones.
    ///   - cases: the words of a field on which others depend, with a draft for each.
    ///   - last: a step after all fields, which is made even if some have mistakes.
    static func object(
        _ allowed: String, _ draft: Value, _ fields: [Field<Value>], from command: String? = nil,
        remedy: String? = nil,
        cases: @autoclosure @escaping @Sendable () -> [(field: String, word: String, draft: Value)] = [],
        last: @escaping @Sendable (inout Value, JSONNode) throws(InputErrors) -> Void = { _, _ in }
    ) -> Format {
        let required = fields.filter(\.isRequired).map(\.name)
        let needed: Schema = required.isEmpty ? [:] : ["required": .strings(required)]
        return Format(
            allowed,
            schema: .closed + needed + .properties(fields.compactMap { $0.property(draft) })
                + dependent(fields, cases())
        ) { node throws(InputErrors) in
            let mistakes = Mistakes()
            let members = try node.members(allowed, known: fields.map(\.name), from: command, mistakes)
            let missing = required.filter { members[$0] == nil }.map { "\"\($0)\"" }
            if !missing.isEmpty {
                let keys =
                    missing.count == 1 ? "the key \(missing[0]) is" : "the keys \(missing.joined(separator: ", ")) are"
                mistakes.note(
                    node.mistake(
                        "\(keys) missing", remedy: remedy ?? "required: \(required.joined(separator: ", "))"))
            }
            var value = draft
            for field in fields {
                guard let member = members[field.name] else { continue }
                mistakes.keep { () throws(InputErrors) in try field.read(member, &value) }
            }
            mistakes.keep { () throws(InputErrors) in try last(&value, node) }
            try mistakes.check()
            return value
        }
    }

    /// The fields whose format depends on a word, for each word.
    private static func dependent(
        _ fields: [Field<Value>], _ cases: [(field: String, word: String, draft: Value)]
    ) -> Schema {
        guard !cases.isEmpty else { return [:] }
        let parts = cases.map { part in
            let word = JSONValue.object(
                ("properties", .object((part.field, .object(("const", .string(part.word)))))),
                ("required", .strings([part.field])))
            let then = fields.filter(\.isDependent).compactMap { field in
                field.schema(part.draft).map { (field.name, $0) }
            }
            return ["if": word] + Schema.keyword("then", [.properties(then)]) { $0[0] }
        }
        return .keyword("allOf", parts) { JSONValue(.array($0)) }
    }

    /// An object of one field.
    static func object(
        of name: String, _ format: Format, _ meaning: @autoclosure @escaping @Sendable () -> String, remedy: String
    ) -> Format {
        Format<Value?>.object(
            "an object with the key \(name)", nil, [Field(name, format, meaning(), isRequired: true) { $0 = $1 }],
            remedy: remedy
        ).map { $0! }
    }
}

extension JSONNode {
    /// The members by name. An unknown name is a mistake; if it is close to an absent known name, its value is checked as
    /// that member's, which is not missing.
    fileprivate func members(
        _ what: String, known: [String], from command: String?, _ mistakes: Mistakes
    ) throws(InputErrors) -> [String: JSONNode] {
        let found = try members(what)
        var members: [String: JSONNode] = [:]
        for member in found where known.contains(member.name) && members[member.name] == nil {
            members[member.name] = child(member)
        }
        for member in found where !known.contains(member.name) {
            var child = child(member)
            var mistake = child.mistake(
                "unknown key \(JSONText.excerpt(member.name))",
                remedy: Suggestion.remedy(for: member.name, among: known, from: command))
            if member.line > 0 { mistake.line = member.line }
            mistakes.note(mistake)
            if let meant = Suggestion.nearest(to: member.name, among: known), members[meant] == nil {
                child.name = meant
                members[meant] = child
            }
        }
        return members
    }
}
