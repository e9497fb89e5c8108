import Glibc

/// A function of Swift as the demangler tells of it, `static M.Type.name(label: T.U) -> V`, in fewer words.
public struct SwiftName: Equatable, Sendable {
    /// Without what the compiler made of the function: a specialization for some types or arguments has the name that the
    /// source gives it.
    public let whole: String

    public init(_ demangled: String) {
        var rest = demangled[...]
        while let inner = Self.unspecialized(rest) { rest = inner }
        whole = String(rest)
    }

    /// From the module's name on.
    var path: Substring { whole.hasPrefix("static ") ? whole.dropFirst(7) : whole[...] }

    private static func unspecialized(_ name: Substring) -> Substring? {
        for word in ["merged ", "partial apply forwarder for ", "partial apply for "] where name.hasPrefix(word) {
            return name.dropFirst(word.count)
        }
        for word in ["generic specialization <", "function signature specialization <"] where name.hasPrefix(word) {
            let arguments = name.dropFirst(word.count - 1)
            let end = arguments.firstOutside(of: .angles) { $1.hasPrefix(" of ") }
            return end.map { name[$0...].dropFirst(4) }
        }
        return nil
    }

    /// Without the module, types and what it returns: `Type.name(label:)`, `closure #1 in Type.name(label:)`. nil if the
    /// name is of another form: then it is to be shown as it is.
    public var short: String? { Self.short(whole[...]) }

    private static func short(_ name: Substring) -> String? {
        // `closure #1 (A) -> B in …`, and a function within a function: `name #1 (A) -> B in …`.
        if let number = name.firstRange(of: " #"), !name[..<number.lowerBound].contains("(") {
            let digits = name[number.upperBound...].prefix(while: \.isNumber)
            guard let around = behindIn(name[digits.endIndex...]), let outer = short(around) else { return nil }
            return "\(name[..<digits.endIndex]) in \(outer)"
        }
        var rest = name
        for word in ["static ", "@objc ", "dispatch thunk of "] where rest.hasPrefix(word) {
            rest = rest.dropFirst(word.count)
        }
        if rest.hasPrefix("(extension in "), let end = rest.firstRange(of: "):") { rest = rest[end.upperBound...] }
        return entity(rest)
    }

    /// What stands behind the first ` in ` outside of brackets.
    private static func behindIn(_ text: Substring) -> Substring? {
        text.firstOutside { $1.hasPrefix(" in ") }.map { text[$0...].dropFirst(4) }
    }

    /// `Module.Type<A>.name<B>(label: C) -> D`, `Module.Type.name.getter : C`.
    private static func entity(_ name: Substring) -> String? {
        let open = name.firstOutside { character, _ in character == "(" || character == " " } ?? name.endIndex
        guard let path = withoutGenerics(name[..<open]) else { return nil }
        let parts = path.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.allSatisfy(isIdentifier) else { return nil }
        let labels: String
        if name[open...].hasPrefix("(") {
            guard let list = argumentLabels(name[open...]) else { return nil }
            labels = "(\(list))"
        } else {
            // Names of C have periods, too.
            guard name[open...].hasPrefix(" : ") || parts.last?.hasSuffix("deinit") == true else { return nil }
            labels = ""
        }
        return parts.dropFirst().joined(separator: ".") + labels
    }

    private static func isIdentifier(_ part: Substring) -> Bool {
        !part.isEmpty && part.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
    }

    /// nil if a bracket is not closed.
    private static func withoutGenerics(_ path: Substring) -> String? {
        var (result, depth) = ("", 0)
        for character in path {
            if character == "<" { depth += 1 }
            if depth == 0 { result.append(character) }
            if character == ">" { depth -= 1 }
        }
        return depth == 0 ? result : nil
    }

    /// Of the parameters in brackets at the beginning of `text`; nil if the bracket is not closed.
    private static func argumentLabels(_ text: Substring) -> String? {
        var (labels, rest) = ("", text.dropFirst())
        while let end = rest.firstOutside(where: { character, _ in character == "," || character == ")" }) {
            let parameter = rest[..<end].drop { $0 == " " }
            if !parameter.isEmpty {
                let label = parameter.prefix { $0 != ":" }
                labels += (label.endIndex < parameter.endIndex && isIdentifier(label) ? label : "_") + ":"
            }
            if rest[end] == ")" { return labels }
            rest = rest[rest.index(after: end)...]
        }
        return nil
    }
}

/// Names on a terminal: without modules and types where that does not make two of all names the same.
struct ShortNames {
    private let uses: [String: Int]

    /// - Parameter names: all that stand in one place.
    init(_ names: some Sequence<String>) {
        uses = Dictionary(grouping: Set(names), by: Self.short).mapValues(\.count)
    }

    /// - Parameter name: one of the names.
    subscript(name: String) -> String {
        let short = Self.short(name)
        return uses[short] == 1 ? short : name
    }

    private static func short(_ name: String) -> String { SwiftName(name).short ?? name }
}

extension Substring {
    /// The first place outside of brackets at which the condition holds; the arrow `->` closes none. An opening bracket
    /// is looked at before it opens, and a closing one that closes nothing as well.
    fileprivate func firstOutside(
        of brackets: Brackets = .all, where isFound: (Character, Substring) -> Bool
    ) -> Index? {
        var (depth, before): (Int, Character) = (0, " ")
        for place in indices {
            let character = self[place]
            if depth == 0, isFound(character, self[place...]) { return place }
            if brackets.opening.contains(character) { depth += 1 }
            if brackets.closing.contains(character), !(character == ">" && before == "-") { depth -= 1 }
            before = character
        }
        return nil
    }
}

private struct Brackets {
    let opening: Set<Character>
    let closing: Set<Character>

    static let all = Brackets(opening: ["(", "[", "<"], closing: [")", "]", ">"])
    /// The demangler leaves square ones open in the arguments of specializations.
    static let angles = Brackets(opening: ["<"], closing: [">"])
}

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
