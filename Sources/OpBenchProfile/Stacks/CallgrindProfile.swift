/// Instructions by stack, of the files that valgrind's callgrind writes with `--separate-callers` and `--demangle=no`. The
/// format is version 1 of the one in valgrind's manual, “Callgrind Format Specification”.
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
/// A name is written once, behind its number. A function's callers stand behind it, each after an apostrophe; a number among
/// them tells how deep the recursion is, and is left out here. The line after `calls=` says what the called one took, which
/// is counted where it was spent. Which file a caller is of is known by what it did itself.
public struct CallgrindProfile: Sendable {
    /// Of all files so far, in instructions.
    public private(set) var profile = StackProfile(unit: .instructions)
    private let demangle: (@Sendable (String) -> String?)
    private var demangled: [String: String] = [:]

    /// - Parameter demangle: gives a name that a person reads, or nil to leave it.
    public init(demangle: @escaping @Sendable (String) -> String? = SwiftDemangler.demangle) {
        self.demangle = demangle
    }

    /// Adds what another file counts.
    ///
    /// - Throws: `StackFileError` for anything but a whole file.
    public mutating func add(_ file: [UInt8]) throws(StackFileError) {
        let counts = try CallgrindCounts(file)
        for count in counts.stacks where count.instructions > 0 {
            let stack = count.functions.enumerated().map { place, symbol in
                frame(symbol, place == 0 ? count.object : counts.object(of: symbol))
            }
            guard profile.add(stack.reversed(), weight: count.instructions) else {
                throw StackFileError("the instructions are too many to be summed up")
            }
        }
    }

    /// What a file of one kind of event counts in all, by its last line. Reads its end alone.
    ///
    /// - Throws: `StackFileError` if it has no such line.
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
        // An address that has no name, and one of no known file.
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

/// What one file has.
private struct CallgrindCounts {
    struct Stack {
        /// The innermost first, as the linker knows them.
        var functions: [String]
        /// With the innermost one's code.
        var object: String
        var instructions: Int64
    }

    /// A function of a file.
    fileprivate struct Key: Hashable {
        var object: Int
        var function: Int
    }

    private(set) var stacks: [Stack] = []
    /// By function; empty where several have one of that name.
    private var objects: [String: String] = [:]

    /// Empty if it is not known.
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
                    "line \(number) is none of callgrind's: \(String(decoding: line.prefix(80), as: UTF8.self))")
            }
        }
        guard let place = reading.events.firstIndex(of: Self.instructions) else {
            throw StackFileError("this is no file of callgrind's that counts instructions")
        }
        // Without its last line it is cut short.
        guard let totals = reading.totals, place < totals.count else {
            throw StackFileError("callgrind's file is cut short")
        }
        let sum = reading.counts.values.reduce(0) { $0 &+ $1 }
        guard sum == totals[place] else {
            throw StackFileError("callgrind's file has \(sum) instructions, and \(totals[place]) by its last line")
        }
        name(reading)
    }

    private mutating func name(_ reading: Reading) {
        let stacks = reading.counts.map { key, count in
            Stack(
                functions: Self.functions(reading.functions[key.function] ?? "???"),
                object: Self.path(reading.objects[key.object] ?? ""), instructions: count)
        }
        // In a fixed order.
        self.stacks = stacks.sorted {
            if $0.instructions != $1.instructions { return $0.instructions > $1.instructions }
            return ($0.functions.joined(), $0.object) < ($1.functions.joined(), $1.object)
        }
        for stack in self.stacks {
            let function = stack.functions[0]
            objects[function] = objects[function].map { $0 == stack.object ? $0 : "" } ?? stack.object
        }
    }

    /// `malloc'2'swift_slowAlloc` is malloc, called by itself and by swift_slowAlloc.
    private static func functions(_ name: String) -> [String] {
        let words = name.split(separator: "'").map(String.init)
        let functions = words.enumerated().filter { $0.offset == 0 || Int($0.element) == nil }.map(\.element)
        return functions.isEmpty ? ["???"] : functions
    }

    private static func path(_ object: String) -> String { object == "???" ? "" : object }
}

extension CallgrindCounts {
    /// Where the reader is, and what it has found.
    fileprivate struct Reading {
        private(set) var events: [String] = []
        private(set) var totals: [Int64]?
        private(set) var objects: [Int: String] = [:]
        private(set) var functions: [Int: String] = [:]
        private(set) var counts: [Key: Int64] = [:]

        private var positions = 1
        private var place = 0
        private var current = Key(object: -1, function: -1)
        /// Whether the next line is about what was called, or where a jump goes.
        private var isOther = false
        /// Of names that are written without one.
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

        /// `0 1200`: where it is, and what was counted there.
        private mutating func takeCounts(_ line: ArraySlice<UInt8>) -> Bool {
            if isOther {
                isOther = false
                return true
            }
            let words = line.split(separator: UInt8(ascii: " "))
            guard !events.isEmpty, words.count >= positions else { return false }
            // Counts that are left out are 0.
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
            // Files of sources.
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

        /// Of `(1) name`, of `(1)`, which has no name, or of a name alone, which gets a number below 0.
        private mutating func numbered(
            _ value: ArraySlice<UInt8>, _ kind: String
        ) -> (number: Int, name: String?)? {
            guard value.first == UInt8(ascii: "(") else { return ownNumber(value, kind) }
            guard let end = value.firstIndex(of: UInt8(ascii: ")")) else { return nil }
            guard let number = Self.number(value[(value.startIndex + 1)..<end]) else {
                // `(below main)` is a name.
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

        /// Of digits alone.
        private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
            guard let first = digits.first, (48...57).contains(first) else { return nil }
            return Int64(String(decoding: digits, as: UTF8.self))
        }
    }
}
