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
