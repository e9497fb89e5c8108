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
