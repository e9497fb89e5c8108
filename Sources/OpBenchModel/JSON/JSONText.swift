/// Writes JSON: what fits on one line stands on it, the rest two spaces a level, members in the order given.
enum JSONText {
    static func write(_ value: JSONValue) -> String {
        var text = ""
        append(value, indentation: "", to: &text)
        return text + "\n"
    }

    /// What a user wrote, for messages: in quotes, on one line, at most 60 characters of it.
    static func excerpt(_ text: String) -> String {
        text.unicodeScalars.count > 60 ? quoted(String(text.unicodeScalars.prefix(60)) + "…") : quoted(text)
    }

    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                quoted += "\\u00" + (scalar.value < 16 ? "0" : "1") + String(scalar.value % 16, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private static let width = 100

    private static func append(_ value: JSONValue, indentation: String, to text: inout String) {
        let flat = flat(value)
        if indentation.utf8.count + flat.utf8.count <= width {
            text += flat
            return
        }
        switch value.content {
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
