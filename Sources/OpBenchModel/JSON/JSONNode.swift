/// A JSON value with its place, which errors name.
struct JSONNode {
    let file: String
    /// The path from the root `$`: `$.parameters.depth[2]`.
    let path: String
    let value: JSONValue

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
        JSONNode(file: file, path: path + Self.step(member.name), value: member.value)
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
    ///   - required: names that must be present.
    ///   - remedy: the advice if one is missing; nil lists the required names.
    ///   - mistakes: receives the mistakes in the names.
    func object(
        _ what: String, known: [String], required: [String] = [], remedy: String? = nil, _ mistakes: Mistakes
    ) throws(InputErrors) -> [String: JSONNode] {
        let found = try self.members(what)
        var members = Dictionary(
            found.filter { known.contains($0.name) }.map { ($0.name, child($0)) },
            uniquingKeysWith: { first, _ in first })
        for member in found where !known.contains(member.name) {
            mistakes.note(
                InputError(
                    file: file, line: member.line, path: child(member).path,
                    message: "unknown key \(JSONText.excerpt(member.name))",
                    remedy: Suggestion.remedy(for: member.name, among: known)))
            if let meant = Suggestion.nearest(to: member.name, among: known), members[meant] == nil {
                members[meant] = child(member)
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
        return elements.enumerated().map { JSONNode(file: file, path: "\(path)[\($0)]", value: $1) }
    }

    func string(_ what: String) throws(InputErrors) -> String {
        guard case .string(let text) = value.content else { throw wrongType(expected: what) }
        return text
    }

    /// A string that is one of `choices`.
    ///
    /// - Parameter note: another possible cause of an unknown value, added to the remedy.
    func choice(_ what: String, among choices: [String], note: String? = nil) throws(InputErrors) -> String {
        let text = try string("one of " + choices.map { "\"\($0)\"" }.joined(separator: ", "))
        guard choices.contains(text) else {
            throw error(
                "unknown \(what) \(JSONText.excerpt(text))",
                remedy: Suggestion.remedy(for: text, among: choices) + (note.map { "; \($0)" } ?? ""))
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

/// "Did you mean": the nearest of the known names.
public enum Suggestion {
    /// The remedy for an unknown name.
    public static func remedy(for name: String, among known: [String]) -> String {
        let list = "known are " + known.joined(separator: ", ")
        guard let nearest = nearest(to: name, among: known) else { return list }
        return "did you mean \"\(nearest)\"? \(list)"
    }

    /// The known name with the smallest edit distance, if that is small for its length.
    public static func nearest(to name: String, among known: [String]) -> String? {
        let written = Array(name.lowercased().unicodeScalars.prefix(64))
        let ranked = known.map { (name: $0, edits: edits(from: written, to: Array($0.unicodeScalars))) }
        guard let best = ranked.min(by: { $0.edits < $1.edits }) else { return nil }
        return best.edits <= max(1, best.name.unicodeScalars.count / 2) ? best.name : nil
    }

    /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), one row of the table at
    /// a time.
    private static func edits(from source: [Unicode.Scalar], to target: [Unicode.Scalar]) -> Int {
        var (beforePrevious, previous) = ([Int](), Array(0...target.count))
        for (index, scalar) in source.enumerated() {
            var row = [index + 1]
            for column in target.indices {
                let substituted = previous[column] + (scalar == target[column] ? 0 : 1)
                var least = min(substituted, previous[column + 1] + 1, row[column] + 1)
                let isSwap =
                    index > 0 && column > 0 && scalar == target[column - 1] && source[index - 1] == target[column]
                if isSwap { least = min(least, beforePrevious[column - 1] + 1) }
                row.append(least)
            }
            (beforePrevious, previous) = (previous, row)
        }
        return previous[target.count]
    }
}
