/// A JSON value with its place, which errors name.
struct JSONNode {
    let file: String
    /// The path from the root `$`: `$.parameters.depth[2]`.
    var path: String
    /// The name of the value's member, or of its list's.
    var name = "the value"
    /// The names of backends and bodies that the file may have.
    var names = BackendNames.known
    var value: JSONValue

    /// A member's step in a path: `.name`, or `["odd name"]`; of a long name, the beginning.
    static func step(_ name: String) -> String {
        let isPlain =
            (1...JSONText.excerptLimit).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789_$".unicodeScalars.contains($0))
            }
        return isPlain ? ".\(name)" : "[\(JSONText.excerpt(name))]"
    }

    /// A mistake at this place.
    func mistake(_ message: String, remedy: String) -> InputError {
        InputError(file: file, line: value.line > 0 ? value.line : nil, path: path, message: message, remedy: remedy)
    }

    /// Like `mistake`, to be thrown.
    func error(_ message: String, remedy: String) -> InputErrors { InputErrors(mistake(message, remedy: remedy)) }

    func wrongType(expected: String) -> InputErrors {
        error("\(value.kindName) found where \(expected) is expected", remedy: "write \(expected)")
    }

    func child(_ member: JSONValue.Member) -> JSONNode {
        var child = self
        child.path += Self.step(member.name)
        (child.name, child.value) = (member.name, member.value)
        return child
    }

    /// The member of that name; nil if there is none.
    subscript(name: String) -> JSONNode? {
        guard case .object(let members) = value.content else { return nil }
        return members.first { $0.name == name }.map(child)
    }

    // MARK: Typed access

    /// A member whose name begins with this is a comment and is ignored.
    static let commentMark = "//"

    /// Checks and returns the members by name.
    ///
    /// An unknown name is a mistake. If it is close to an absent known name, its value is checked as that member's, and
    /// the known name is not reported as missing.
    ///
    /// - Parameters:
    ///   - command: the command that prints all known names.
    ///   - required: names that must be present.
    ///   - remedy: the advice if one is missing; nil lists the required names.
    ///   - mistakes: receives the mistakes in the names.
    func object(
        _ what: String, known: [String], from command: String? = nil, required: [String] = [], remedy: String? = nil,
        _ mistakes: Mistakes
    ) throws(InputErrors) -> [String: JSONNode] {
        let found = try self.members(what)
        var members = Dictionary(
            found.filter { known.contains($0.name) }.map { ($0.name, child($0)) },
            uniquingKeysWith: { first, _ in first })
        for member in found where !known.contains(member.name) {
            mistakes.note(
                InputError(
                    file: file, line: member.line > 0 ? member.line : nil, path: child(member).path,
                    message: "unknown key \(JSONText.excerpt(member.name))",
                    remedy: Suggestion.remedy(for: member.name, among: known, from: command)))
            if let meant = Suggestion.nearest(to: member.name, among: known), members[meant] == nil {
                members[meant] = child(member)
                members[meant]?.name = meant
            }
        }
        let missing = required.filter { members[$0] == nil }
        if !missing.isEmpty {
            let names = missing.map { "\"\($0)\"" }.joined(separator: ", ")
            mistakes.note(
                mistake(
                    missing.count == 1 ? "the key \(names) is missing" : "the keys \(names) are missing",
                    remedy: remedy ?? "required: \(required.joined(separator: ", "))"))
        }
        return members
    }

    /// The members without comments.
    func members(_ what: String) throws(InputErrors) -> [JSONValue.Member] {
        guard case .object(let members) = value.content else { throw wrongType(expected: what) }
        return members.filter { !$0.name.hasPrefix(Self.commentMark) }
    }

    /// The elements of a list, which must not be empty.
    func elements(_ what: String) throws(InputErrors) -> [JSONNode] {
        guard case .array(let elements) = value.content else { throw wrongType(expected: what) }
        if elements.isEmpty { throw error("an empty list", remedy: "write \(what) with at least one entry") }
        return elements.enumerated().map { index, element in
            var child = self
            child.path += "[\(index)]"
            child.value = element
            return child
        }
    }

    func string(_ what: String) throws(InputErrors) -> String {
        guard case .string(let text) = value.content else { throw wrongType(expected: what) }
        return text
    }

    /// A string that is one of `choices`.
    ///
    /// - Parameters:
    ///   - command: the command that prints all choices.
    ///   - note: another possible cause of an unknown value, added to the remedy.
    func choice(
        _ what: String, among choices: [String], from command: String? = nil, note: String? = nil
    ) throws(InputErrors) -> String {
        guard case .string(let text) = value.content else {
            let quoted = Suggestion.list(choices.map { "\"\($0)\"" }, from: command)
            throw error("\(value.kindName) found in place of the \(what)", remedy: "write one of \(quoted)")
        }
        guard choices.contains(text) else {
            throw error(
                "unknown \(what) \(JSONText.excerpt(text))",
                remedy: Suggestion.remedy(for: text, among: choices, from: command) + (note.map { "; \($0)" } ?? ""))
        }
        return text
    }

    /// One line of text for people, of 1 to `limit` characters.
    func sentence(_ what: String, limit: Int) throws(InputErrors) -> String {
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
