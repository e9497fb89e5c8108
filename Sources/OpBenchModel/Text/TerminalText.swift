/// Text from elsewhere, such as a file's fields, as it may stand on a terminal and in a job's log: on one line, without
/// control sequences, and nothing in it that GitHub's runner takes for a workflow command, which it looks for in all
/// that a step prints.
public enum TerminalText {
    /// The longest field of a printed table, and the longest message, in scalars.
    public static let fieldLimit = 1000
    public static let messageLimit = 8000

    /// - Parameters:
    ///   - limit: what is longer is cut, and ends in `…`.
    ///   - keepsScopes: leaves `::` alone where something else than blanks stands before it, as in C++ names: for text
    ///     that is a whole line, where no runner looks for a command there.
    public static func escaped(_ text: String, limit: Int = .max, keepsScopes: Bool = false) -> String {
        let scalars = text.unicodeScalars
        let isPlain =
            text.utf8.count <= limit
            && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != colon && $0 != bracket }
        if isPlain { return text }
        var result = String.UnicodeScalarView()
        var (count, previous, beforePrevious): (Int, Unicode.Scalar?, Unicode.Scalar?) = (0, nil, nil)
        // Whether something else than blanks and colons has come.
        var isWithinLine = false
        for scalar in scalars {
            if count == limit {
                result.append("…")
                break
            }
            let isCommand =
                scalar == ":" && previous == ":" && !(keepsScopes && isWithinLine)
                || scalar == "[" && previous == "#" && beforePrevious == "#"
            isWithinLine = isWithinLine || !(scalar == ":" || scalar.properties.isWhitespace || scalar.isUnprintable)
            if isCommand || scalar.isUnprintable {
                result.append(contentsOf: scalar.visibleEscape.unicodeScalars)
            } else {
                result.append(scalar)
            }
            (count, previous, beforePrevious) = (count + 1, scalar, previous)
        }
        return String(result)
    }

    private static let colon = UInt8(ascii: ":")
    private static let bracket = UInt8(ascii: "[")
}
