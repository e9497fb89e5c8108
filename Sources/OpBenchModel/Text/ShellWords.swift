import Glibc

/// Command lines that can be pasted into a shell.
public enum ShellWords {
    /// A call of this program, by the name that its caller used; a wrapper script can set the name.
    public static func ofThisProgram(_ arguments: [String]) -> String {
        let name = getenv("OPBENCH_CALLED_AS").map { String(cString: $0) } ?? CommandLine.arguments.first ?? "opbench"
        return joined([name] + arguments)
    }

    /// The command that continues a run, and names it.
    ///
    /// - Parameter arguments: the command that began or continued it, the program's name first.
    public static func continuing(_ arguments: [String], as runID: String) -> String {
        let words = arguments.dropFirst()
        let isNamed = words.contains { $0 == "--run-id" || $0.hasPrefix("--run-id=") }
        let more = (isNamed ? [] : ["--run-id", runID]) + (words.contains("--resume") ? [] : ["--resume"])
        return ofThisProgram(words.prefix(1) + more + words.dropFirst())
    }

    public static func joined(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// A word, quoted if necessary. Works on bytes, because a combining mark would hide a quote.
    private static func quoted(_ word: String) -> String {
        let bytes = Array(word.utf8)
        if !bytes.isEmpty, bytes.allSatisfy(isPlain) { return word }
        if !word.unicodeScalars.contains(where: isUnseen) {
            return joining(bytes, between: "'") { $0 == UInt8(ascii: "'") ? "'\\''" : nil }
        }
        // bash's own form, which keeps control characters away from the terminal, and everything on one line.
        return "$"
            + joining(bytes, between: "'") { byte in
                if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") {
                    return "\\" + String(UnicodeScalar(byte))
                }
                return (0x20..<0x7F).contains(byte) ? nil : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
    }

    private static func joining(_ bytes: [UInt8], between quote: String, _ escape: (UInt8) -> String?) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if let escaped = escape(byte) { text += escaped.utf8 } else { text.append(byte) }
        }
        return quote + String(decoding: text, as: UTF8.self) + quote
    }

    /// Whether a scalar is invisible and affects the text around it.
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-_./:=,+@%".utf8.contains(byte)
    }
}
