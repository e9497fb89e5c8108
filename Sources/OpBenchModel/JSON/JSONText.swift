/// Writes JSON: a value that fits is on one line, others are indented by two spaces per level, with members in the
/// order given. Lists of numbers and strings fill their lines.
public enum JSONText {
    static func write(_ value: JSONValue) -> String {
        var text = ""
        append(value, indentation: "", to: &text)
        return text + "\n"
    }

    /// The length limit of an excerpt, in scalars.
    static let excerptLimit = 60

    /// User input for messages: quoted, on one line, at most 60 characters.
    package static func excerpt(_ text: String) -> String {
        let scalars = text.unicodeScalars
        return scalars.count > excerptLimit ? quoted(String(scalars.prefix(excerptLimit)) + "…") : quoted(text)
    }

    /// A string in quotes. Unprintable scalars are escaped even where JSON does not require it: YAML, a superset of
    /// JSON, refuses some, and terminals obey some. The bracket in `##[` is escaped too: it begins a command of
    /// GitHub's runner.
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

    /// One escape of four digits, or two beyond U+FFFF.
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
