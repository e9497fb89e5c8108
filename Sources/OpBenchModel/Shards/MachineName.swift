import Glibc

/// The name of this machine in rows: `OPBENCH_HOST`, or else its host name.
///
/// The host name in a container usually names the container; the variable can name the machine.
public enum MachineName {
    /// The variable of the environment.
    public static let variable = "OPBENCH_HOST"
    static let limit = 100

    /// This machine's name. Characters that a folder's name cannot have become dashes; `check` refuses them in a user's
    /// name.
    public static let own: String = {
        let name = getenv(variable).map { String(cString: $0) } ?? hostName
        let plain = name.utf8.prefix(limit).map { isAllowed($0) ? $0 : UInt8(ascii: "-") }
        return plain.isEmpty ? "unknown" : String(decoding: plain, as: UTF8.self)
    }()

    /// - Throws: `InputError` if the name that the user set is invalid.
    public static func check() throws(InputError) {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return }
        try check(text)
    }

    static func check(_ text: String) throws(InputError) {
        guard !text.isEmpty, text.utf8.count <= limit, text.utf8.allSatisfy(isAllowed) else {
            throw InputError(
                file: variable, message: "\(JSONText.excerpt(text)) is not a machine name",
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
