/// Writes JSON: what fits on one line is on it, the rest two spaces a level, members in the order given. Lines of numbers
/// and strings are filled.
public enum JSONText {
    static func write(_ value: JSONValue) -> String {
        var text = ""
        append(value, indentation: "", to: &text)
        return text + "\n"
    }

    /// How much of a text an excerpt has, in scalars.
    static let excerptLimit = 60

    /// What a user wrote, for messages: in quotes, on one line, at most 60 characters of it.
    static func excerpt(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.count > excerptLimit ? quoted(String(scalars.prefix(excerptLimit)) + "…") : quoted(text)
    }

    /// A string in quotes. Unprintable scalars are escaped, whether JSON asks for it or not: YAML, of which JSON is a part,
    /// refuses some, terminals obey some. So is the bracket of `##[`, by which GitHub's runner knows a command.
    public static func quoted(_ text: String) -> String {
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        var (previous, beforePrevious): (Unicode.Scalar?, Unicode.Scalar?) = (nil, nil)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted.append(contentsOf: "\\\"".unicodeScalars)
            case "\\": quoted.append(contentsOf: "\\\\".unicodeScalars)
            case "\n", "\r", "\t": quoted.append(contentsOf: scalar.visibleEscape.unicodeScalars)
            case "[" where previous == "#" && beforePrevious == "#": append(escape: scalar, to: &quoted)
            case _ where scalar.isUnprintable: append(escape: scalar, to: &quoted)
            default: quoted.append(scalar)
            }
            (previous, beforePrevious) = (scalar, previous)
        }
        quoted.append("\"")
        return String(quoted)
    }

    /// One or, beyond U+FFFF, two escapes of four digits.
    private static func append(escape scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView) {
        for unit in UTF16.encode(scalar)! {
            let digits = String(unit, radix: 16)
            text.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
        }
    }

    private static let width = 100

    private static func append(_ value: JSONValue, indentation: String, to text: inout String) {
        let flat = flat(value)
        if indentation.utf8.count + flat.utf8.count <= width {
            text += flat
            return
        }
        switch value.content {
        case .array(let elements) where elements.allSatisfy(\.isScalar):
            appendFilled(elements, indentation: indentation, to: &text)
        case .array(let elements):
            let lines = elements.map { (label: "", value: $0) }
            append(lines, between: ("[", "]"), indentation: indentation, to: &text)
        case .object(let members):
            let lines = members.map { (label: quoted($0.name) + ": ", value: $0.value) }
            append(lines, between: ("{", "}"), indentation: indentation, to: &text)
        case .null, .boolean, .number, .string: text += flat
        }
    }

    private static func append(
        _ lines: [(label: String, value: JSONValue)], between brackets: (String, String), indentation: String,
        to text: inout String
    ) {
        let inner = indentation + "  "
        text += brackets.0
        for (index, line) in lines.enumerated() {
            text += (index > 0 ? ",\n" : "\n") + inner + line.label
            append(line.value, indentation: inner, to: &text)
        }
        text += "\n" + indentation + brackets.1
    }

    private static func appendFilled(_ elements: [JSONValue], indentation: String, to text: inout String) {
        var line = ""
        text += "["
        for (index, element) in elements.enumerated() {
            let word = flat(element) + (index + 1 < elements.count ? "," : "")
            if line.isEmpty || line.utf8.count + 1 + word.utf8.count > width {
                text += line
                line = "\n" + indentation + "  " + word
            } else {
                line += " " + word
            }
        }
        text += line + "\n" + indentation + "]"
    }

    /// The value on one line.
    private static func flat(_ value: JSONValue) -> String {
        switch value.content {
        case .null: "null"
        case .boolean(let flag): flag ? "true" : "false"
        case .number(let number): number.text
        case .string(let string): quoted(string)
        case .array(let elements): "[" + elements.map(flat).joined(separator: ", ") + "]"
        case .object(let members):
            members.isEmpty
                ? "{}" : "{ " + members.map { quoted($0.name) + ": " + flat($0.value) }.joined(separator: ", ") + " }"
        }
    }
}

extension JSONValue {
    fileprivate var isScalar: Bool {
        switch content {
        case .array, .object: false
        case .null, .boolean, .number, .string: true
        }
    }
}
