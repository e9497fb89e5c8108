/// Text in a cell of a table in GitHub's Markdown, where it stands for itself alone.
public enum MarkdownText {
    /// Scalars that mean something are written as entities, which never are structure; backslashes would need to be
    /// counted. What a terminal should not be sent is written as `TerminalText` does.
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
