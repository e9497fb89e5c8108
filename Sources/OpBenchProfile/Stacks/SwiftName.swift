import Glibc

/// A Swift function's demangled name, `static M.Type.name(label: T.U) -> V`, and shorter forms.
public struct SwiftName: Equatable, Sendable {
    /// The name without the compiler's variants: a specialization for some types or arguments has the function's name
    /// in the source.
    public let whole: String

    public init(_ demangled: String) {
        var rest = demangled[...]
        while let inner = Self.unspecialized(rest) { rest = inner }
        whole = String(rest)
    }

    /// The name from the module on, of a closure that of the function around it.
    var path: Substring {
        var rest = whole[...]
        while rest.hasPrefix("closure #"), let around = Self.behindIn(rest) { rest = around }
        return rest.hasPrefix("static ") ? rest.dropFirst(7) : rest
    }

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

    /// The name without module, parameter types and return type: `Type.name(label:)`, `closure #1 in
    /// Type.name(label:)`. Nil if the name has another form, and should be shown unchanged.
    public var short: String? { Self.short(whole[...]) }

    private static func short(_ name: Substring) -> String? {
        // `closure #1 (A) -> B in …`, and a nested function: `name #1 (A) -> B in …`.
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

    /// The text after the first ` in ` outside of brackets.
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
            // C names contain periods, too.
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

    /// The labels of the parameters in brackets at the beginning of `text`; nil if the bracket is not closed.
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

/// Short names for a terminal: without modules and types, unless two names would become equal.
struct ShortNames {
    private let uses: [String: Int]

    /// - Parameter names: all names in one place.
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
    /// The first place outside of brackets where the condition holds. The arrow `->` does not close a bracket. The condition
    /// is also tested on an outermost opening bracket, and on a closing bracket without an opening one.
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
    /// The demangler leaves square brackets open in the arguments of specializations.
    static let angles = Brackets(opening: ["<"], closing: [">"])
}

/// Demangles the names of Swift functions.
///
/// The runtime of every Swift program contains the demangler. Its entry `swift_demangle` is looked up, since it is in
/// no header. A program that does not export it keeps mangled names. Thread-safe.
public enum SwiftDemangler {
    private typealias Entry =
        @convention(c) (
            UnsafePointer<CChar>?, Int, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<Int>?, UInt32
        ) -> UnsafeMutablePointer<CChar>?

    private static let entry: Entry? = dlsym(nil, "swift_demangle").map { unsafeBitCast($0, to: Entry.self) }

    /// The maximum length of names; longer symbols are not names.
    private static let longest = 16_384

    /// The demangled name; nil if the symbol is not a mangled Swift name.
    public static func demangle(_ symbol: String) -> String? {
        guard let entry, symbol.utf8.count <= longest, symbol.utf8.first == 0x24 || symbol.utf8.first == 0x5F else {
            return nil
        }
        guard !symbol.utf8.contains(0) else { return nil }
        return symbol.withCString { text in
            guard let result = entry(text, symbol.utf8.count, nil, nil, 0) else { return nil }
            defer { free(result) }
            // It returns symbols that it cannot demangle.
            let name = String(cString: result)
            return name == symbol || name.isEmpty ? nil : withoutDiscriminators(name)
        }
    }

    /// Removes discriminators of private names, as in `(Scheduler in _F3BBAEC4B91875E28F7F96A4995E42DB)`, which readers
    /// do not need.
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
