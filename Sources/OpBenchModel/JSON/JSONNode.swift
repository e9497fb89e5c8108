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
}

/// The names of backends and bodies that a file may have.
public enum BackendNames: Sendable {
    /// The names that this program knows.
    case known
    /// Any name, as in files that another program wrote.
    case recorded
}
