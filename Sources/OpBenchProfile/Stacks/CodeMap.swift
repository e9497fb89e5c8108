/// The files whose code is mapped in a process's memory, from /proc/PID/maps, proc_pid_maps(5).
public struct CodeMap: Equatable, Sendable {
    /// A range of executable memory.
    public struct Mapping: Equatable, Sendable, Codable {
        public var start: UInt64
        /// The address after its last byte.
        public var end: UInt64
        /// The address that corresponds to address 0 in the file: that of its first page, if the file is
        /// position-independent.
        public var base: UInt64
        /// A path, or a name in brackets: `[vdso]`. Empty for memory without a file.
        public var path: String

        public init(start: UInt64, end: UInt64, base: UInt64, path: String) {
            self.start = start
            self.end = end
            self.base = base
            self.path = path
        }
    }

    /// Mappings in ascending order, without overlaps.
    public private(set) var mappings: [Mapping] = []

    public init() {}

    /// - Returns: nil if the mappings overlap or are out of order.
    public init?(_ mappings: [Mapping]) {
        var end: UInt64 = 0
        for mapping in mappings {
            guard mapping.start >= end, mapping.end > mapping.start else { return nil }
            end = mapping.end
        }
        self.mappings = mappings
    }

    /// - Parameter maps: the text of /proc/PID/maps; other lines are skipped.
    public init(maps: some Sequence<UInt8>) {
        var first: (path: String, start: UInt64)?
        for line in Array(maps).split(separator: UInt8(ascii: "\n")) {
            guard let (range, isExecutable, offset, path) = Self.parsed(line) else { continue }
            if offset == 0 { first = (path, range.lowerBound) }
            guard isExecutable, range.lowerBound >= mappings.last?.end ?? 0 else { continue }
            let base = first.flatMap { $0.path == path && !path.isEmpty ? $0.start : nil }
            mappings.append(
                Mapping(
                    start: range.lowerBound, end: range.upperBound, base: base ?? range.lowerBound &- offset,
                    path: path))
        }
    }

    /// `7f09746fa000-7f09746fb000 r-xp 00001000 fe:00 333671    /usr/lib/libc.so.6`
    private static func parsed(
        _ line: ArraySlice<UInt8>
    ) -> (range: Range<UInt64>, isExecutable: Bool, offset: UInt64, path: String)? {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count >= 5, fields[1].count == 4 else { return nil }
        let ends = fields[0].split(separator: UInt8(ascii: "-"))
        guard ends.count == 2, let start = hexadecimal(ends[0]), let end = hexadecimal(ends[1]), start < end,
            let offset = hexadecimal(fields[2])
        else { return nil }
        let path = fields.count > 5 ? fields[5].drop { $0 == UInt8(ascii: " ") } : []
        return (
            start..<end, fields[1][fields[1].startIndex + 2] == UInt8(ascii: "x"), offset,
            String(decoding: path, as: UTF8.self)
        )
    }

    static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt64? {
        digits.first == UInt8(ascii: "+") ? nil : UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    public func mapping(at address: UInt64) -> Mapping? {
        let place = mappings.partition { $0.end > address }
        return place < mappings.count && mappings[place].start <= address ? mappings[place] : nil
    }
}

/// The names of addresses.
public struct SymbolTable: Sendable {
    public let map: CodeMap
    /// Functions by address; if functions were inlined there, the outermost first.
    private var functions: [UInt64: [StackFrame]] = [:]

    public init(map: CodeMap) { self.map = map }

    /// - Parameters:
    ///   - functions: the linker's symbols, the innermost first.
    ///   - demangle: returns a readable name, or nil to keep the symbol.
    public mutating func name(
        _ address: UInt64, _ functions: [String], demangle: (String) -> String? = SwiftDemangler.demangle
    ) {
        let object = object(of: address)
        self.functions[address] = functions.reversed().map {
            StackFrame(name: demangle($0) ?? $0, symbol: $0, object: object)
        }
    }

    /// The frames at an address, at least one: a frame with only the file if the address has no name.
    public func frames(at address: UInt64) -> [StackFrame] {
        if let frames = functions[address], !frames.isEmpty { return frames }
        let object = object(of: address)
        // The code that the kernel maps into every process has no file, so it has no names.
        return [StackFrame(name: object == Self.vdso ? object : StackFrame.unknownName, object: object)]
    }

    static let vdso = "[vdso]"
    private static let deleted = " (deleted)"

    private func object(of address: UInt64) -> String {
        let path = map.mapping(at: address)?.path ?? ""
        return path.hasSuffix(Self.deleted) ? String(path.dropLast(Self.deleted.count)) : path
    }
}

extension StackFrame {
    /// Whether this is an unnamed function of the C library, which is often stripped of names.
    var isNamelessLibC: Bool { isUnknown && object.split(separator: "/").last?.hasPrefix("libc.") ?? false }
}
