/// A JSON value together with its place, so that every refusal can name it.
struct JSONNode {
    let file: String
    /// From the root `$`: `$.parameters.depth[2]`.
    let path: String
    let value: JSONValue

    /// How a member's name appears in a path: `.name`, or `["odd name"]`.
    static func step(_ name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789_$".unicodeScalars.contains($0))
            }
        return isPlain ? ".\(name)" : "[\(JSONText.quoted(name))]"
    }

    func error(_ message: String, remedy: String) -> InputError {
        InputError(file: file, line: value.line > 0 ? value.line : nil, path: path, message: message, remedy: remedy)
    }

    func wrongType(expected: String) -> InputError {
        error("\(value.kindName) stands where \(expected) belongs", remedy: "write \(expected)")
    }

    func child(_ member: JSONValue.Member) -> JSONNode {
        JSONNode(file: file, path: path + Self.step(member.name), value: member.value)
    }

    // MARK: Readings

    /// The members by name; the names must be among `known`.
    func object(_ what: String, known: [String]) throws(InputError) -> [String: JSONNode] {
        var members: [String: JSONNode] = [:]
        for member in try self.members(what) {
            let node = child(member)
            guard known.contains(member.name) else {
                throw InputError(
                    file: file, line: member.line, path: node.path,
                    message: "unknown key \(JSONText.excerpt(member.name))",
                    remedy: Suggestion.remedy(for: member.name, among: known))
            }
            members[member.name] = node
        }
        return members
    }

    func members(_ what: String) throws(InputError) -> [JSONValue.Member] {
        guard case .object(let members) = value.content else { throw wrongType(expected: what) }
        return members
    }

    /// The elements of a list; an empty one is refused.
    func elements(_ what: String) throws(InputError) -> [JSONNode] {
        guard case .array(let elements) = value.content else { throw wrongType(expected: what) }
        if elements.isEmpty { throw error("an empty list", remedy: "write \(what) with at least one entry") }
        return elements.enumerated().map { JSONNode(file: file, path: "\(path)[\($0)]", value: $1) }
    }

    func string(_ what: String) throws(InputError) -> String {
        guard case .string(let text) = value.content else { throw wrongType(expected: what) }
        return text
    }

    /// A string that must be one of `choices`.
    func choice(_ what: String, among choices: [String]) throws(InputError) -> String {
        let text = try string("one of " + choices.map { "\"\($0)\"" }.joined(separator: ", "))
        guard choices.contains(text) else {
            throw error(
                "unknown \(what) \(JSONText.excerpt(text))", remedy: Suggestion.remedy(for: text, among: choices))
        }
        return text
    }

    /// One line of text for people, from 1 to `limit` characters.
    func sentence(_ what: String, limit: Int) throws(InputError) -> String {
        let text = try string(what)
        let scalars = text.unicodeScalars
        guard (1...limit).contains(scalars.count), !scalars.contains(where: { $0.value < 0x20 }) else {
            throw error(
                "\(what) is empty, too long or more than one line", remedy: "write one line of 1 to \(limit) characters"
            )
        }
        return text
    }
}
