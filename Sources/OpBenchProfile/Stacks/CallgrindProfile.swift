/// Instructions by stack, from the files that valgrind's callgrind writes with `--separate-callers` and
/// `--demangle=no`. The format is version 1 of “Callgrind Format Specification” in valgrind's manual.
///
///     positions: line
///     events: Ir
///     ob=(1) /usr/lib/libc.so.6
///     fl=(1) ???
///     fn=(1) malloc'swift_slowAlloc'$s15OperationEngine9QueueCoreC3addyyF
///     0 1200
///     cob=(2) /b/opbench
///     cfn=(2) free'malloc
///     calls=3 0
///     0 600
///     totals: 1200
///
/// A name is written once, after its number. A function's callers follow its name, each after an apostrophe; a number
/// among them is the depth of the recursion, and is dropped here. The line after `calls=` has the cost of the called
/// function, which is already counted where it was spent. A caller's file is known from the code that it executed
/// itself.
public struct CallgrindProfile: Sendable {
    /// The instructions of all files so far.
    public private(set) var profile = StackProfile(unit: .instructions)
    private let demangle: (@Sendable (String) -> String?)
    private var demangled: [String: String] = [:]

    /// - Parameter demangle: returns a readable name, or nil to keep the symbol.
    public init(demangle: @escaping @Sendable (String) -> String? = SwiftDemangler.demangle) {
        self.demangle = demangle
    }

    /// Adds the counts of another file.
    ///
    /// - Throws: `StackFileError` unless the file is complete.
    public mutating func add(_ file: [UInt8]) throws(StackFileError) {
        let counts = try CallgrindCounts(file)
        for count in counts.stacks where count.instructions > 0 {
            let stack = count.functions.enumerated().map { place, symbol in
                frame(symbol, place == 0 ? count.object : counts.object(of: symbol))
            }
            guard profile.add(stack.reversed(), weight: count.instructions) else {
                throw StackFileError("the sum of the instructions exceeds 64 bits")
            }
        }
    }

    /// The total count of a file with one kind of event, from its last line. Parses only the file's end.
    ///
    /// - Throws: `StackFileError` if that line is missing.
    public static func total(of file: [UInt8]) throws(StackFileError) -> Int64 {
        let line = file.suffix(longestTotals).split(separator: UInt8(ascii: "\n")).last ?? []
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == "totals:", let total = Int64(words[1]), total >= 0 else {
            throw StackFileError("callgrind's file is cut short")
        }
        return total
    }

    private static let longestTotals = 64

    private mutating func frame(_ symbol: String, _ object: String) -> StackFrame {
        // An address without a name, and a function of an unknown file.
        if symbol.hasPrefix("0x") || symbol == "???" {
            return StackFrame(name: StackFrame.unknownName, object: object)
        }
        // `pthread_create@@GLIBC_2.34`
        let symbol = symbol.firstRange(of: "@@").map { String(symbol[..<$0.lowerBound]) } ?? symbol
        let name = demangled[symbol] ?? demangle(symbol) ?? symbol
        demangled[symbol] = name
        return StackFrame(name: name, symbol: symbol, object: object)
    }
}

/// The contents of one file.
private struct CallgrindCounts {
    struct Stack {
        /// The functions' symbols, the innermost first.
        var functions: [String]
        /// The file with the innermost function's code.
        var object: String
        var instructions: Int64
    }

    /// A function in a file.
    fileprivate struct Key: Hashable {
        var object: Int
        var function: Int
    }

    private(set) var stacks: [Stack] = []
    /// Files by function; empty if several files have a function of that name.
    private var objects: [String: String] = [:]

    /// The file of a function; empty if unknown.
    func object(of function: String) -> String { objects[function] ?? "" }

    private static let instructions = "Ir"

    init(_ file: [UInt8]) throws(StackFileError) {
        var reading = Reading()
        var number = 0
        for line in file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            guard reading.take(line) else {
                throw StackFileError(
                    "line \(number) is not callgrind's: \(String(decoding: line.prefix(80), as: UTF8.self))")
            }
        }
        guard let place = reading.events.firstIndex(of: Self.instructions) else {
            throw StackFileError("this is not a callgrind file that counts instructions")
        }
        // A file without its last line is truncated.
        guard let totals = reading.totals, place < totals.count else {
            throw StackFileError("callgrind's file is cut short")
        }
        let sum = reading.counts.values.reduce(0) { $0 &+ $1 }
        guard sum == totals[place] else {
            throw StackFileError("callgrind's file has \(sum) instructions, but its last line has \(totals[place])")
        }
        name(reading)
    }

    private mutating func name(_ reading: Reading) {
        let stacks = reading.counts.map { key, count in
            Stack(
                functions: Self.functions(reading.functions[key.function] ?? "???"),
                object: Self.path(reading.objects[key.object] ?? ""), instructions: count)
        }
        // Sorted for a stable order.
        self.stacks = stacks.sorted {
            if $0.instructions != $1.instructions { return $0.instructions > $1.instructions }
            return ($0.functions.joined(), $0.object) < ($1.functions.joined(), $1.object)
        }
        for stack in self.stacks {
            let function = stack.functions[0]
            objects[function] = objects[function].map { $0 == stack.object ? $0 : "" } ?? stack.object
        }
    }

    /// `malloc'2'swift_slowAlloc` is malloc, called recursively and by swift_slowAlloc.
    private static func functions(_ name: String) -> [String] {
        let words = name.split(separator: "'").map(String.init)
        let functions = words.enumerated().filter { $0.offset == 0 || Int($0.element) == nil }.map(\.element)
        return functions.isEmpty ? ["???"] : functions
    }

    private static func path(_ object: String) -> String { object == "???" ? "" : object }
}

extension CallgrindCounts {
    /// The state of the reader, and the contents so far.
    fileprivate struct Reading {
        private(set) var events: [String] = []
        private(set) var totals: [Int64]?
        private(set) var objects: [Int: String] = [:]
        private(set) var functions: [Int: String] = [:]
        private(set) var counts: [Key: Int64] = [:]

        private var positions = 1
        private var place = 0
        private var current = Key(object: -1, function: -1)
        /// Whether the next line belongs to a call or a jump.
        private var isOther = false
        /// Numbers for names that are written without one.
        private var numbers: [String: Int] = [:]

        /// - Returns: false if the line is not of the format.
        mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
            switch line[line.startIndex] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "*"):
                return takeCounts(line)
            default: break
            }
            let isMark: (UInt8) -> Bool = { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }
            guard let mark = line.firstIndex(where: isMark) else { return false }
            let key = String(decoding: line[..<mark], as: UTF8.self)
            let value = line[(mark + 1)...].drop { $0 == UInt8(ascii: " ") }
            return line[mark] == UInt8(ascii: "=") ? takePlace(key, value) : takeHeader(key, value)
        }

        /// `0 1200`: a position and its count.
        private mutating func takeCounts(_ line: ArraySlice<UInt8>) -> Bool {
            if isOther {
                isOther = false
                return true
            }
            let words = line.split(separator: UInt8(ascii: " "))
            guard !events.isEmpty, words.count >= positions else { return false }
            // Omitted counts are 0.
            guard words.count > positions + place else { return true }
            guard let count = Self.number(words[positions + place]) else { return false }
            let (sum, overflow) = counts[current, default: 0].addingReportingOverflow(count)
            counts[current] = sum
            return !overflow
        }

        /// `fn=(1) name`, `calls=3 0`.
        private mutating func takePlace(_ key: String, _ value: ArraySlice<UInt8>) -> Bool {
            switch key {
            case "ob", "cob":
                guard let (number, name) = numbered(value, "ob") else { return false }
                if let name { objects[number] = name }
                if key == "ob" { current.object = number }
            case "fn", "cfn":
                guard let (number, name) = numbered(value, "fn") else { return false }
                if let name { functions[number] = name }
                if key == "fn" { current.function = number }
            case "calls", "jump", "jcnd": isOther = true
            // Source files.
            case "fl", "fi", "fe", "cfi", "cfl": break
            default: return false
            }
            return true
        }

        private mutating func takeHeader(_ key: String, _ value: ArraySlice<UInt8>) -> Bool {
            let words = value.split(separator: UInt8(ascii: " "))
            switch key {
            case "version": return words.first.map { String(decoding: $0, as: UTF8.self) } == "1"
            case "positions": positions = words.count
            case "events":
                events = words.map { String(decoding: $0, as: UTF8.self) }
                place = events.firstIndex(of: CallgrindCounts.instructions) ?? 0
            case "totals":
                let numbers = words.map { Self.number($0) }
                guard numbers.allSatisfy({ $0 != nil }) else { return false }
                totals = numbers.compactMap(\.self)
            default: break
            }
            return true
        }

        /// Parses `(1) name`; `(1)`, without a name; or a name alone, which gets a negative number.
        private mutating func numbered(
            _ value: ArraySlice<UInt8>, _ kind: String
        ) -> (number: Int, name: String?)? {
            guard value.first == UInt8(ascii: "(") else { return ownNumber(value, kind) }
            guard let end = value.firstIndex(of: UInt8(ascii: ")")) else { return nil }
            guard let number = Self.number(value[(value.startIndex + 1)..<end]) else {
                // `(below main)` is a name, not a number.
                return ownNumber(value, kind)
            }
            let name = value[(end + 1)...].drop { $0 == UInt8(ascii: " ") }
            return (Int(number), name.isEmpty ? nil : String(decoding: name, as: UTF8.self))
        }

        private mutating func ownNumber(
            _ value: ArraySlice<UInt8>, _ kind: String
        ) -> (number: Int, name: String?) {
            let name = String(decoding: value, as: UTF8.self)
            let number = numbers[kind + name] ?? -2 - numbers.count
            numbers[kind + name] = number
            return (number, name)
        }

        /// A number of digits only.
        private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
            guard let first = digits.first, (48...57).contains(first) else { return nil }
            return Int64(String(decoding: digits, as: UTF8.self))
        }
    }
}
