import Glibc

/// The name of the machine that measures, as rows have it: `OPBENCH_HOST`, else its host name.
///
/// A container's host name is often that of the container; whoever starts it knows the machine's.
public enum MachineName {
    /// The variable of the environment.
    public static let variable = "OPBENCH_HOST"
    static let limit = 100

    /// This machine's. What cannot stand in a folder's name is a dash; `check` refuses it where a user gave it.
    public static let own: String = {
        let name = getenv(variable).map { String(cString: $0) } ?? hostName
        let plain = name.utf8.prefix(limit).map { isAllowed($0) ? $0 : UInt8(ascii: "-") }
        return plain.isEmpty ? "unknown" : String(decoding: plain, as: UTF8.self)
    }()

    /// - Throws: `InputError` if the name that the user gave is none.
    public static func check() throws(InputError) {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return }
        try check(text)
    }

    static func check(_ text: String) throws(InputError) {
        guard !text.isEmpty, text.utf8.count <= limit, text.utf8.allSatisfy(isAllowed) else {
            throw InputError(
                file: variable, message: "\(JSONText.excerpt(text)) is no name of a machine",
                remedy: "write 1 to \(limit) of the characters a–z, A–Z, 0–9, `.`, `_` and `-`")
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "._-".utf8.contains(byte)
    }

    private static var hostName: String {
        var name = utsname()
        uname(&name)
        return withUnsafeBytes(of: name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
