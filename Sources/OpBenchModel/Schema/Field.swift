/// A member of an object in a file: its name, its format, its meaning, and where its value goes.
struct Field<Root>: Sendable {
    let name: String
    let isRequired: Bool
    /// Whether the format depends on members before it.
    let isDependent: Bool
    /// Nil for a member that belongs elsewhere: its mistake says where.
    let schema: @Sendable (Root) -> Schema?
    let read: @Sendable (JSONNode, inout Root) throws(InputErrors) -> Void

    init<Value>(
        _ name: String, _ format: Format<Value>, _ meaning: String, isRequired: Bool = false,
        keep: @escaping @Sendable (inout Root, Value) -> Void
    ) {
        (self.name, self.isRequired, isDependent) = (name, isRequired, false)
        schema = { _ in ["description": .string(meaning)] + format.schema }
        read = { node, root throws(InputErrors) in keep(&root, try format.read(node)) }
    }

    /// A member whose format depends on the members before it.
    init<Value>(
        _ name: String, of format: @escaping @Sendable (Root) -> Format<Value>, _ meaning: String,
        isRequired: Bool = false, keep: @escaping @Sendable (inout Root, Value) -> Void
    ) {
        (self.name, self.isRequired, isDependent) = (name, isRequired, true)
        schema = { root in ["description": .string(meaning)] + format(root).schema }
        read = { node, root throws(InputErrors) in keep(&root, try format(root).read(node)) }
    }

    /// A member of another object.
    init(_ name: String, misplaced message: String, remedy: String) {
        (self.name, isRequired, isDependent) = (name, false, false)
        schema = { _ in nil }
        read = { node, _ throws(InputErrors) in throw node.error("\(name) is \(message)", remedy: remedy) }
    }

    private init<Part>(_ field: Field<Part>, in path: any WritableKeyPath<Root, Part> & Sendable) {
        (name, isRequired, isDependent) = (field.name, field.isRequired, field.isDependent)
        schema = { root in field.schema(root[keyPath: path]) }
        read = { node, root throws(InputErrors) in try field.read(node, &root[keyPath: path]) }
    }

    /// The field as one of a value that has `Root` as a part.
    func inside<Whole>(_ path: any WritableKeyPath<Whole, Root> & Sendable) -> Field<Whole> { .init(self, in: path) }
}

extension Format where Value: Sendable {
    /// An object of one field.
    static func object(of name: String, _ format: Format, _ meaning: String, remedy: String) -> Format {
        Format<Value?>.object(
            "an object with the key \(name)", nil, [Field(name, format, meaning, isRequired: true) { $0 = $1 }],
            remedy: remedy
        ).map { $0! }
    }

    /// An object of fields, and of comments.
    ///
    /// - Parameters:
    ///   - draft: the value with the defaults of all fields, in which they are kept one after the other.
    ///   - command: the command that prints all fields.
    ///   - remedy: the advice if a field is missing; nil lists the required ones.
    static func object(
        _ allowed: String, _ draft: Value, _ fields: [Field<Value>], from command: String? = nil, remedy: String? = nil
    ) -> Format {
        let required = fields.filter(\.isRequired).map(\.name)
        let needed: Schema = required.isEmpty ? [:] : ["required": .strings(required)]
        return Format(
            allowed,
            schema: .closed + needed
                + .properties(fields.compactMap { field in field.schema(draft).map { (field.name, $0) } })
        ) { node throws(InputErrors) in
            let mistakes = Mistakes()
            let members = try node.object(
                allowed, known: fields.map(\.name), from: command, required: required, remedy: remedy, mistakes)
            var value = draft
            for field in fields {
                mistakes.keep(members[field.name]) { node throws(InputErrors) in try field.read(node, &value) }
            }
            try mistakes.check()
            return value
        }
    }
}
