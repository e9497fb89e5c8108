/// A strict JSON parser (RFC 8259): one value, UTF-8, no comments, no duplicate members, nesting up to `maximumDepth`.
/// Every failure names line and column; no input traps.
struct JSONParser {
    static let maximumDepth = 64

    private let file: String
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    private var lineStart = 0
    /// The position up to which the columns of the last mistake's line were counted, and their number: many mistakes on
    /// one long line take linear time.
    private var counted = (line: 0, end: 0, columns: 0)
    /// The steps from the root to the value being read, for the message about a repeated member.
    private var steps: [String] = []
    /// The number of open objects and lists.
    private var depth = 0
    private var keepsValues = true
    /// Receives the mistakes that parsing continues after; nil if the first mistake ends it.
    private var mistakes: Mistakes?
    private var hasComment = false

    static func parse(_ text: String, file: String) throws(InputError) -> JSONNode {
        var parser = JSONParser(text: text, file: file)
        return JSONNode(file: file, path: "$", value: try parser.whole())
    }

    /// Like `parse`, but continues after mistakes whose meaning is clear: a comma too many or too few, a comment, and a
    /// duplicate member, of which the first one counts.
    ///
    /// - Parameter mistakes: receives these mistakes.
    /// - Throws: `InputErrors` with all mistakes up to the one that ends parsing.
    static func read(_ text: String, file: String, _ mistakes: Mistakes) throws(InputErrors) -> JSONNode {
        var parser = JSONParser(text: text, file: file)
        parser.mistakes = mistakes
        if let value = mistakes.keepFirst({ () throws(InputError) in try parser.whole() }) {
            return JSONNode(file: file, path: "$", value: value)
        }
        throw mistakes.gathered!
    }

    /// Checks a text without building values, for Foundation's decoder, which ignores duplicate members and takes long
    /// over a million combining marks.
    static func check(_ text: String, file: String) throws(InputError) {
        var parser = JSONParser(text: text, file: file)
        parser.keepsValues = false
        _ = try parser.whole()
    }

    private init(text: String, file: String) {
        self.file = file
        self.bytes = Array(text.utf8)
    }

    // MARK: Values

    /// Parses the one value of the text.
    private mutating func whole() throws(InputError) -> JSONValue {
        skipSpace()
        let value = try value()
        skipSpace()
        if position < bytes.count { throw failure("text after the end of the value") }
        return value
    }

    private mutating func value() throws(InputError) -> JSONValue {
        let start = line
        switch peek {
        case UInt8(ascii: "{"): return JSONValue(.object(try object()), line: start)
        case UInt8(ascii: "["): return JSONValue(.array(try array()), line: start)
        case UInt8(ascii: "\""): return JSONValue(.string(try string()), line: start)
        case UInt8(ascii: "t"): return JSONValue(try word("true", .boolean(true)), line: start)
        case UInt8(ascii: "f"): return JSONValue(try word("false", .boolean(false)), line: start)
        case UInt8(ascii: "n"): return JSONValue(try word("null", .null), line: start)
        case nil: throw failure("the file ends where a value should be")
        case let byte:
            guard byte == UInt8(ascii: "-") || isDigit(byte) else {
                throw failure("no JSON value begins with \(shownByte)")
            }
            return JSONValue(.number(try number()), line: start)
        }
    }

    private mutating func object() throws(InputError) -> [JSONValue.Member] {
        try descend()
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipSpace()
        if take("}") { return ascend(members) }
        while true {
            skipSpace()
            let memberLine = line
            guard peek == UInt8(ascii: "\"") else {
                let failure = failure("a member's name in double quotes is missing here")
                guard !names.isEmpty, peek == UInt8(ascii: "}") else { throw failure }
                try tolerate(failure)
                position += 1
                return ascend(members)
            }
            let name = try string()
            let isNew = names.insert(name).inserted
            if !isNew { try tolerate(duplicate(name, line: memberLine)) }
            skipSpace()
            guard take(":") else { throw failure("a colon is missing after the name \(JSONText.excerpt(name))") }
            skipSpace()
            steps.append(JSONNode.step(name))
            let member = JSONValue.Member(name: name, line: memberLine, value: try value())
            if keepsValues, isNew { members.append(member) }
            steps.removeLast()
            skipSpace()
            if take("}") { return ascend(members) }
            if take(",") { continue }
            let failure = failure("a comma or a closing brace is missing here")
            guard peek == UInt8(ascii: "\"") else { throw failure }
            try tolerate(failure)
        }
    }

    private mutating func array() throws(InputError) -> [JSONValue] {
        try descend()
        var elements: [JSONValue] = []
        var count = 0
        skipSpace()
        if take("]") { return ascend(elements) }
        while true {
            skipSpace()
            if count > 0, peek == UInt8(ascii: "]") {
                try tolerate(failure("no JSON value begins with ']'"))
                position += 1
                return ascend(elements)
            }
            steps.append("[\(count)]")
            let element = try value()
            if keepsValues { elements.append(element) }
            count += 1
            steps.removeLast()
            skipSpace()
            if take("]") { return ascend(elements) }
            if take(",") { continue }
            let failure = failure("a comma or a closing bracket is missing here")
            guard let next = peek, "\"{[-".utf8.contains(next) || isDigit(next) else { throw failure }
            try tolerate(failure)
        }
    }

    private mutating func word(_ word: StaticString, _ content: JSONValue.Content) throws(InputError)
        -> JSONValue.Content
    {
        let expected = Array(word.description.utf8)
        guard bytes[position...].starts(with: expected) else {
            throw failure("unknown word: JSON has only true, false and null")
        }
        position += expected.count
        return content
    }

    private mutating func number() throws(InputError) -> JSONNumber {
        let start = position
        _ = take("-")
        if take("0") {
            if isDigit(peek) { throw failure("a number must not have a leading 0") }
        } else {
            try digits()
        }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return JSONNumber(text: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(InputError) {
        guard isDigit(peek) else { throw failure("a digit is missing in a number") }
        while isDigit(peek) { position += 1 }
    }

    // MARK: Strings

    private mutating func string() throws(InputError) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                let text = String(decoding: text, as: UTF8.self)
                guard StreamSafeText.holds(text) else { throw failure(StreamSafeText.problem) }
                return text
            case UInt8(ascii: "\\"):
                position += 1
                text.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20:
                throw failure("a control character inside a string; write it as an escape such as \\n")
            default:
                text.append(byte)
                position += 1
            }
        }
        throw failure("the file ends inside a string")
    }

    private mutating func escape() throws(InputError) -> Unicode.Scalar {
        guard let byte = peek else { throw failure("the file ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw failure("unknown escape in a string")
        }
    }

    private mutating func unicodeEscape() throws(InputError) -> Unicode.Scalar {
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take("\\"), take("u") else { throw failure("half of a surrogate pair in a string") }
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("half of a surrogate pair in a string") }
        return scalar
    }

    private mutating func hexadecimal() throws(InputError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("\\u needs four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    // MARK: Places

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func isDigit(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\n"):
                line += 1
                lineStart = position + 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): break
            case UInt8(ascii: "/") where skipComment(): continue
            default: return
            }
            position += 1
        }
    }

    /// Skips a comment of other languages, if parsing continues after mistakes. Consecutive comments count as one
    /// mistake.
    private mutating func skipComment() -> Bool {
        guard let mistakes, bytes[position...].starts(with: "//".utf8) || bytes[position...].starts(with: "/*".utf8)
        else { return false }
        if !hasComment {
            var failure = failure("JSON has no comments")
            failure.remedy = "write it as a member whose name begins with \(JSONNode.commentMark), or remove it"
            mistakes.note(failure)
        }
        hasComment = true
        let isLine = bytes[position + 1] == UInt8(ascii: "/")
        position += 2
        while let byte = peek {
            if byte == UInt8(ascii: "\n") {
                if isLine { return true }
                line += 1
                lineStart = position + 1
            }
            position += 1
            if !isLine, byte == UInt8(ascii: "*"), take("/") { return true }
        }
        return true
    }

    /// Records a mistake and continues, if the caller collects them.
    private func tolerate(_ mistake: InputError) throws(InputError) {
        guard let mistakes else { throw mistake }
        mistakes.note(mistake)
    }

    /// Enters an object or a list.
    private mutating func descend() throws(InputError) {
        depth += 1
        if depth > Self.maximumDepth { throw failure("lists and objects nest deeper than \(Self.maximumDepth) levels") }
        position += 1
    }

    private mutating func ascend<Result>(_ result: Result) -> Result {
        depth -= 1
        return result
    }

    private var shownByte: String {
        let scalar = String(decoding: bytes[position...].prefix(4), as: UTF8.self).unicodeScalars.first
        guard let scalar else { return "this byte" }
        if scalar == "\u{FEFF}" { return "a byte order mark" }
        return scalar.value < 0x20 ? "a control character" : "'\(scalar)'"
    }

    private mutating func failure(_ message: String) -> InputError {
        let end = min(position, bytes.count)
        if counted.line != line || counted.end > end { counted = (line, lineStart, 0) }
        counted.columns += bytes[counted.end..<end].count { !UTF8.isContinuation($0) }
        counted.end = end
        return InputError(
            file: file, line: line, message: "not JSON at line \(line), column \(counted.columns + 1): \(message)",
            remedy: "write one JSON object, without comments or trailing commas")
    }

    private func duplicate(_ name: String, line: Int) -> InputError {
        InputError(
            file: file, line: line, path: "$" + steps.joined() + JSONNode.step(name),
            message: "the key \(JSONText.excerpt(name)) appears twice", remedy: "keep one of the two")
    }
}

/// JSON that Foundation decodes.
public enum JSONDocument {
    /// Reads and checks a file that holds one JSON value, by the strict rules of `JSONParser`.
    ///
    /// - Parameter limit: in bytes.
    /// - Throws: `InputError` if the file cannot be read, is too large, or is not JSON.
    public static func text(of file: String, limit: Int) throws(InputError) -> String {
        let text = try TextFile.read(file, limit: limit)
        try check(text, file: file)
        return text
    }

    /// Like `text(of:limit:)` for a text read before; `file` is the name in errors.
    package static func check(_ text: String, file: String) throws(InputError) {
        try JSONParser.check(text, file: file)
    }

    /// The path at which Foundation failed to decode: `$.builds.base.path`; empty if it is unknown.
    package static func path(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "" }
        let keys: [any CodingKey] =
            switch error {
            case .keyNotFound(let key, let context): context.codingPath + [key]
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            @unknown default: []
            }
        return keys.reduce(into: "$") { path, key in
            path += key.intValue.map { "[\($0)]" } ?? JSONNode.step(key.stringValue)
        }
    }
}
