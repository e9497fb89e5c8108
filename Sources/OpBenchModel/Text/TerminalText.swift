/// Foreign text, such as fields of a file, made safe for terminals and job logs: on one line, without control
/// sequences, and without workflow commands, which GitHub's runner looks for in all output of a step.
public enum TerminalText {
    /// The longest field of a printed table, and the longest message, in scalars.
    public static let fieldLimit = 1000
    public static let messageLimit = 8000

    /// - Parameters:
    ///   - limit: longer text is cut and ends in `…`.
    ///   - keepsScopes: keeps `::` after anything but blanks, as in C++ names: for text that is a whole line, where
    ///     runners look for commands only at the beginning.
    public static func escaped(_ text: String, limit: Int = .max, keepsScopes: Bool = false) -> String {
        let scalars = text.unicodeScalars
        let isPlain =
            text.utf8.count <= limit
            && text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != colon && $0 != bracket }
        if isPlain { return text }
        var result = String.UnicodeScalarView()
        var (count, previous, beforePrevious): (Int, Unicode.Scalar?, Unicode.Scalar?) = (0, nil, nil)
        // Whether anything but blanks and colons has come.
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

/// Unicode's stream-safe text (UAX #15): at most 30 combining marks in a row. Swift compares and hashes strings by
/// their normal form, which takes time quadratic in such a row: a few megabytes of marks took minutes.
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

    /// The text without the excess marks.
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
    /// Whether the scalar has no shape but acts on the text around it: controls (C0, DEL, C1), line and paragraph
    /// separators, formats such as direction overrides, and noncharacters. The joiners of emoji and of some scripts are
    /// excluded.
    var isUnprintable: Bool {
        if (0x20..<0x7F).contains(value) { return false }
        if value < 0xA0 || value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(value) { return true }
        if value == 0x200C || value == 0x200D { return false }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// The escape as in Swift source: `
    /// `, `\u{9b}`.
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
    package var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
