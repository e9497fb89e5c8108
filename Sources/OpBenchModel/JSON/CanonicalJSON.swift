extension JSONValue {
    /// The one text of the value by the JSON Canonicalization Scheme (RFC 8785): members by name, no space, the shortest
    /// escapes. Numbers stay as they were written, which is their canonical form for whole ones.
    ///
    /// However a file was laid out, its value has the same digest: `jq -jcS . file | sha256sum`.
    var canonical: String {
        var text = ""
        appendCanonical(to: &text)
        return text
    }

    /// SHA-256 of the canonical text, 64 hexadecimal digits.
    var canonicalSHA256: String { SHA256.hexadecimal(of: Array(canonical.utf8)) }

    private func appendCanonical(to text: inout String) {
        switch content {
        case .null: text += "null"
        case .boolean(let flag): text += flag ? "true" : "false"
        case .number(let number): text += number.text
        case .string(let string): Self.appendCanonical(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.appendCanonical(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.sorted(by: { $0.name.utf16.lexicographicallyPrecedes($1.name.utf16) })
                .enumerated()
            {
                if index > 0 { text += "," }
                Self.appendCanonical(member.name, to: &text)
                text += ":"
                member.value.appendCanonical(to: &text)
            }
            text += "}"
        }
    }

    private static func appendCanonical(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{8}": text += "\\b"
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            case "\u{c}": text += "\\f"
            case "\r": text += "\\r"
            case _ where scalar.value < 0x20:
                text += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    /// The members of an object in the order of their names; of anything else none.
    var membersByName: [(String, JSONValue)] {
        guard case .object(let members) = content else { return [] }
        return members.map { ($0.name, $0.value) }.sorted { $0.0.utf16.lexicographicallyPrecedes($1.0.utf16) }
    }
}
