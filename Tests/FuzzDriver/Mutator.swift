@testable import OpBenchModel

/// Changes inputs as the things that they are, half of the time: bytes that are changed at random hardly ever make JSON or
/// rows, and then reach little of a reader. The other half libFuzzer changes bytes.
struct Mutator {
    private let words: [String]
    private var generator: SplitMix64

    init(_ words: [String], seed: UInt32) {
        self.words = words
        generator = SplitMix64(seed: UInt64(seed))
    }

    /// nil where the input is not of that form.
    mutating func mutated(_ bytes: [UInt8], _ form: FuzzReader.Form) -> [UInt8]? {
        switch form {
        case .bytes: nil
        case .json: document(String(decoding: bytes, as: UTF8.self)).map { Array($0.utf8) }
        case .rows: bytes.count > 2 ? Array(bytes[..<2]) + rows(Array(bytes[2...])) : nil
        }
    }

    private mutating func one<Element>(of elements: [Element]) -> Element? { elements.randomElement(using: &generator) }
    private mutating func isOneOf(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    // MARK: JSON

    private mutating func document(_ text: String) -> String? {
        guard var value = try? JSONParser.parse(text, file: "").value else { return nil }
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let count = Self.count(of: value)
            var place = Int.random(in: 0..<count, using: &generator)
            value = changed(value, at: &place, in: value)
        }
        return JSONText.write(value)
    }

    private static func count(of value: JSONValue) -> Int {
        switch value.content {
        case .array(let elements): elements.reduce(1) { $0 + count(of: $1) }
        case .object(let members): members.reduce(1) { $0 + count(of: $1.value) }
        default: 1
        }
    }

    /// The value with the part changed that is the `place`-th from the root on.
    private mutating func changed(_ value: JSONValue, at place: inout Int, in root: JSONValue) -> JSONValue {
        if place == 0 {
            place = -1
            return replacement(of: value, in: root)
        }
        place -= 1
        switch value.content {
        case .array(var elements):
            for index in elements.indices where place >= 0 {
                elements[index] = changed(elements[index], at: &place, in: root)
            }
            return JSONValue(.array(elements))
        case .object(var members):
            for index in members.indices where place >= 0 {
                let value = changed(members[index].value, at: &place, in: root)
                members[index] = .init(name: members[index].name, line: 0, value: value)
            }
            return JSONValue(.object(members))
        default: return value
        }
    }

    private mutating func replacement(of value: JSONValue, in root: JSONValue) -> JSONValue {
        switch value.content {
        case .array(var elements) where !isOneOf(4):
            let index = Int.random(in: 0...elements.count, using: &generator)
            if index < elements.count, isOneOf(2) {
                elements.remove(at: index)
            } else {
                elements.insert(other(in: root), at: index)
            }
            return JSONValue(.array(elements))
        case .object(var members) where !isOneOf(4):
            let index = Int.random(in: 0...members.count, using: &generator)
            if index < members.count, isOneOf(2) {
                members.remove(at: index)
            } else {
                members.insert(.init(name: one(of: words) ?? "", line: 0, value: other(in: root)), at: index)
            }
            return JSONValue(.object(members))
        case .string(let text) where text.hasPrefix("{") && !isOneOf(4):
            // A workload within a description.
            return document(text).map { .string($0) } ?? other(in: root)
        case .number(let number) where isOneOf(2):
            return JSONValue(.number(JSONNumber(text: changed(number))))
        default: return other(in: root)
        }
    }

    private mutating func changed(_ number: JSONNumber) -> String {
        let integer = number.integer ?? 0
        return one(of: [
            "\(integer &+ 1)", "\(integer &- 1)", "\(integer &* 10)", "-\(integer.magnitude)",
            "1e\(integer.magnitude % 400)",
            "\(integer).5", "\(integer)e0", "\(Int.random(in: 0...1 << 40, using: &generator))",
        ])!
    }

    /// A part of the same text, or something else.
    private mutating func other(in root: JSONValue) -> JSONValue {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            return JSONValue(.number(JSONNumber(text: one(of: ["0", "1", "-1", "1e400", "1e18", "0.5", "100000"])!)))
        case 1: return one(of: [JSONValue(.null), true, false, .list(), .object()])!
        case 2, 3: return .string(one(of: words) ?? "")
        default:
            var place = Int.random(in: 0..<Self.count(of: root), using: &generator)
            return Self.part(of: root, at: &place) ?? root
        }
    }

    private static func part(of value: JSONValue, at place: inout Int) -> JSONValue? {
        if place == 0 { return value }
        place -= 1
        let parts: [JSONValue] =
            switch value.content {
            case .array(let elements): elements
            case .object(let members): members.map(\.value)
            default: []
            }
        for part in parts {
            if let found = self.part(of: part, at: &place) { return found }
        }
        return nil
    }

    // MARK: Rows

    private mutating func rows(_ bytes: [UInt8]) -> [UInt8] {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(Array.init) }
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            // The header seldom, without which nothing else is looked at.
            let first = lines.count > 2 && !isOneOf(10) ? 1 : 0
            let line = Int.random(in: first..<lines.count, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: lines.insert(lines[line], at: line)
            case 1 where lines.count > 1: lines.remove(at: line)
            case 2:
                // Of the same column.
                let (column, other) = (Int.random(in: lines[line].indices, using: &generator), one(of: lines)!)
                if column < other.count { lines[line][column] = other[column] }
            default: lines[line][Int.random(in: lines[line].indices, using: &generator)] = field()
            }
        }
        return Array(
            lines.map { Array($0.joined(separator: [UInt8(ascii: ",")])) }.joined(separator: [UInt8(ascii: "\n")]))
    }

    private mutating func field() -> [UInt8] {
        let word = Array((one(of: words) ?? "").utf8)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return Array("\(Int.random(in: -2...1 << 50, using: &generator))".utf8)
        case 1: return Array("\(Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator)))".utf8)
        case 2: return Array("\"\(String(decoding: word, as: UTF8.self).replacing("\"", with: "\"\""))\"".utf8)
        case 3: return []
        default: return word
        }
    }
}
