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

/// Unicode's stream-safe text (UAX #15): no more than 30 combining marks in a row. Swift compares and hashes strings by
/// their normal form, which takes time by the square of such a row; a few megabytes of marks took minutes.
public enum StreamSafeText {
    static let markLimit = 30
    static let problem = "more than \(markLimit) combining marks in a row"

    package static func holds(_ text: String) -> Bool {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return true }
        var marks = 0
        for scalar in text.unicodeScalars {
            marks = isMark(scalar) ? marks + 1 : 0
            if marks > markLimit { return false }
        }
        return true
    }

    /// The text without the marks that are too many.
    public static func made(of text: String) -> String {
        if holds(text) { return text }
        var (marks, result) = (0, String.UnicodeScalarView())
        for scalar in text.unicodeScalars {
            marks = isMark(scalar) ? marks + 1 : 0
            if marks <= markLimit { result.append(scalar) }
        }
        return String(result)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
    }
}

extension Unicode.Scalar {
    /// Whether it has no shape of its own but acts on what stands around it: controls (C0, DEL, C1), line and paragraph
    /// separators, formats such as those that turn the direction of reading, and what is no character at all. The joiners
    /// of emoji and of some scripts are none of them.
    var isUnprintable: Bool {
        if (0x20..<0x7F).contains(value) { return false }
        if value < 0xA0 || value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value) { return true }
        if value == 0x200C || value == 0x200D { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// As Swift writes it: `\n`, `\u{9b}`.
    var visibleEscape: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{" + String(value, radix: 16) + "}"
        }
    }
}

extension UInt8 {
    /// Whether this is the ASCII code of a letter or a digit.
    package var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
