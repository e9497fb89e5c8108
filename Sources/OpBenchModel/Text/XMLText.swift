/// Text as the value of an XML 1.0 attribute in double quotes.
public enum XMLText {
    /// What the parser gives back is the text, but for scalars that no XML document may hold, even as references: a
    /// replacement character stands for each.
    public static func attribute(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result.append(contentsOf: "&amp;".unicodeScalars)
            case "<": result.append(contentsOf: "&lt;".unicodeScalars)
            case ">": result.append(contentsOf: "&gt;".unicodeScalars)
            case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
            case _ where !isAllowed(scalar): result.append("\u{FFFD}")
            // A parser makes spaces of line ends and tabs that are written as such.
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
