/// Text in a table cell of GitHub's Markdown, without any effect as markup.
public enum MarkdownText {
    /// Scalars with a meaning become entities, which are never markup; backslashes would have to be counted. Scalars
    /// that a terminal would obey are escaped as in `TerminalText`.
    public static func cell(_ text: String) -> String {
        let scalars = Array(TerminalText.escaped(text, limit: TerminalText.fieldLimit).unicodeScalars)
        var result = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            let isInWord =
                index > 0 && index + 1 < scalars.count && isPlain(scalars[index - 1]) && isPlain(scalars[index + 1])
            if special.contains(scalar) || scalar == "_" && !isInWord {
                result.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private static let special = Set("\\`*[]<>&|~$!".unicodeScalars)

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
    }
}

/// Text as the value of an XML 1.0 attribute in double quotes.
public enum XMLText {
    /// The attribute parses back to the text, except for scalars that no XML document may hold, even as references:
    /// each becomes a replacement character.
    public static func attribute(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case _ where !isAllowed(scalar): result.append("\u{FFFD}")
            // A parser would turn literal line ends and tabs into spaces.
            case _ where scalar.isUnprintable:
                result.append(contentsOf: "&#x\(String(scalar.value, radix: 16));".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// The production `Char` of XML 1.0.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
            || "\t\n\r".unicodeScalars.contains(scalar)
    }
}

/// A command that GitHub's runner recognises on a line of a step's output: `::error title=…::…`.
public enum WorkflowCommand {
    /// The line with its end. The runner restores the title and the message exactly.
    public static func line(_ name: String, title: String, message: String) -> String {
        "::\(name) title=\(property(title))::\(data(message))\n"
    }

    private static func data(_ text: String) -> String { escaped(text, "%\r\n") }

    /// A property also escapes colons and commas.
    private static func property(_ text: String) -> String { escaped(text, "%\r\n:,") }

    private static func escaped(_ text: String, _ special: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if special.utf8.contains(byte) {
                bytes += "%".utf8
                bytes += (byte < 16 ? "0" : "").utf8
                bytes += String(byte, radix: 16, uppercase: true).utf8
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
