import Glibc

/// Turns the names that Swift's compiler gives functions into those that a person wrote.
///
/// The runtime of every Swift program has the demangler; its entry `swift_demangle` is looked up, since no header has
/// it. A program that was linked without exporting it leaves names as they are. Thread-safe.
public enum SwiftDemangler {
    private typealias Entry =
        @convention(c) (
            UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
        ) -> UnsafeMutablePointer<CChar>?

    private static let entry: Entry? = dlsym(nil, "swift_demangle").map { unsafeBitCast($0, to: Entry.self) }

    /// Names are code of any length; what is longer than any that is real is no name.
    private static let longest = 16_384

    /// nil if it is no mangled name of Swift.
    public static func demangle(_ symbol: String) -> String? {
        guard let entry, symbol.utf8.count <= longest, symbol.utf8.first == 0x24 || symbol.utf8.first == 0x5F else {
            return nil
        }
        guard !symbol.utf8.contains(0) else { return nil }
        return symbol.withCString { text in
            guard let result = entry(text, symbol.utf8.count, nil, nil, 0) else { return nil }
            defer { free(result) }
            // What it cannot read, it gives back.
            let name = String(cString: result)
            return name == symbol || name.isEmpty ? nil : withoutDiscriminators(name)
        }
    }

    /// `(Scheduler in _F3BBAEC4B91875E28F7F96A4995E42DB)` is how a private name is told from others; the name is
    /// enough for a person.
    static func withoutDiscriminators(_ name: String) -> String {
        var (result, rest) = ("", name[...])
        while let mark = rest.firstRange(of: " in _") {
            let digits = rest[mark.upperBound...].prefix { $0.isHexDigit }
            let end = digits.endIndex
            let isDiscriminator = digits.count == 32 && end < rest.endIndex && rest[end] == ")"
            guard isDiscriminator, let open = rest[..<mark.lowerBound].lastIndex(of: "(") else {
                result += rest[..<mark.upperBound]
                rest = rest[mark.upperBound...]
                continue
            }
            result += rest[..<open] + rest[rest.index(after: open)..<mark.lowerBound]
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }
}
