/// Writes JSON: two spaces a level, short lists of plain values on one line, members in the order given.
enum JSONText {
    static func write(_ value: JSONValue) -> String {
        var text = ""
        append(value, indentation: "", to: &text)
        return text + "\n"
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

    private static func append(_ value: JSONValue, indentation: String, to text: inout String) {
        switch value.content {
        case .null: text += "null"
        case .boolean(let flag): text += flag ? "true" : "false"
        case .number(let number): text += number.text
        case .string(let string): text += quoted(string)
        case .array(let elements): append(elements, indentation: indentation, to: &text)
        case .object(let members): append(members, indentation: indentation, to: &text)
        }
    }

    private static func append(_ elements: [JSONValue], indentation: String, to text: inout String) {
        let isPlain = elements.allSatisfy { element in
            switch element.content {
            case .array, .object: false
            default: true
            }
        }
        if isPlain {
            var line = "["
            for (index, element) in elements.enumerated() {
                if index > 0 { line += ", " }
                append(element, indentation: "", to: &line)
            }
            text += line + "]"
            return
        }
        let inner = indentation + "  "
        text += "["
        for (index, element) in elements.enumerated() {
            text += (index > 0 ? ",\n" : "\n") + inner
            append(element, indentation: inner, to: &text)
        }
        text += "\n" + indentation + "]"
    }

    private static func append(_ members: [JSONValue.Member], indentation: String, to text: inout String) {
        if members.isEmpty {
            text += "{}"
            return
        }
        let inner = indentation + "  "
        text += "{"
        for (index, member) in members.enumerated() {
            text += (index > 0 ? ",\n" : "\n") + inner + quoted(member.name) + ": "
            append(member.value, indentation: inner, to: &text)
        }
        text += "\n" + indentation + "}"
    }
}
