import Foundation

/// A program that was built from a commit, with the files beside it.
public struct BuiltCommit: Sendable {
    public let commit: PackageCommit
    /// The folder, which contains nothing else.
    let folder: String
    let product: String
    /// The same program, linked again in other layouts.
    var layouts: [ProgramLayout] = []

    public var program: String { "\(folder)/\(product)" }

    /// Whether both programs are the same, byte for byte, except for the commit that each reports.
    ///
    /// The commit that is linked into a program always has the same length. Both programs were built in one place, so
    /// their paths do not differ.
    ///
    /// - Throws: if a file cannot be read.
    public func isSame(as other: BuiltCommit) throws -> Bool {
        let files = try files()
        guard try files == other.files() else { return false }
        return try files.allSatisfy { name in
            Self.areSame(
                try contents(of: name), commit.id, try other.contents(of: name), other.commit.id)
        }
    }

    /// The name of the file that records how the program was made. It names the compiler and is not compared.
    static let record = "made-by"

    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0 != Self.record }.sorted()
    }

    private func contents(of name: String) throws -> Data {
        let path = "\(folder)/\(name)"
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { return Data() }
        return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    }

    /// Whether two files are the same except for their own stamps and the linker's digest, which covers the stamp.
    static func areSame(_ one: Data, _ stamp: String, _ other: Data, _ otherStamp: String) -> Bool {
        guard one.count == other.count else { return false }
        let own = ownParts(of: one, stamp)
        guard own == ownParts(of: other, otherStamp) else { return false }
        var begin = 0
        for part in own + [one.count..<one.count] {
            guard begin >= part.lowerBound || isSame(one, other, begin..<part.lowerBound) else { return false }
            begin = max(begin, part.upperBound)
        }
        return true
    }

    /// The ranges of stamps and digests, in file order.
    private static func ownParts(of data: Data, _ stamp: String) -> [Range<Int>] {
        var parts = ELFBuildID.places(in: data)
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: Data(stamp.utf8), in: rest) {
            parts.append(found.lowerBound - data.startIndex..<found.upperBound - data.startIndex)
            rest = found.upperBound..<data.endIndex
        }
        return parts.sorted { $0.lowerBound < $1.lowerBound }
    }

    private static func isSame(_ one: Data, _ other: Data, _ range: Range<Int>) -> Bool {
        one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                memcmp(one.baseAddress! + range.lowerBound, other.baseAddress! + range.lowerBound, range.count) == 0
            }
        }
    }
}

/// A program of which only the layout differs from others of one build: the order of its code and data.
public struct ProgramLayout: Sendable, Codable, Equatable {
    /// The seed by which it was linked.
    public let seed: Int
    public let path: String

    /// The seeds of `count` layouts of each side. No seed is on both sides, so that two layouts of one commit differ.
    static func seeds(_ count: Int) -> (base: [Int], head: [Int]) {
        (base: (0..<count).map { 2 * $0 + 1 }, head: (0..<count).map { 2 * $0 + 2 })
    }

    /// The linker's arguments for one layout. LLD shuffles the sections of code, constants and variables, of which
    /// every object file has its own; its order of constructors stays. Symbols are left out: a program with them takes
    /// three times the space, and the samples need none.
    static func arguments(seed: Int) -> [String] {
        [".text*", ".rodata*", ".data*", ".bss*"].map { "--shuffle-sections=\($0)=\(seed)" } + ["--strip-all"]
    }
}

/// The digest of a program's contents that linkers write into it (`NT_GNU_BUILD_ID` of elf(5)).
enum ELFBuildID {
    /// The places of the digest in a 64-bit little-endian file; empty if the file has none, or is of another kind.
    static func places(in data: Data) -> [Range<Int>] {
        data.withUnsafeBytes { bytes in
            guard bytes.count >= headerSize, bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return [] }
            let table = number(UInt64.self, at: 32, of: bytes)
            let (entry, count) = (number(UInt16.self, at: 54, of: bytes), number(UInt16.self, at: 56, of: bytes))
            guard entry >= segmentSize, table <= UInt64(bytes.count),
                UInt64(bytes.count) - table >= UInt64(entry) * UInt64(count)
            else { return [] }
            return (0..<Int(count)).flatMap { index in
                let place = Int(table) + index * Int(entry)
                return number(UInt32.self, at: place, of: bytes) == noteSegment ? ids(ofSegment: place, bytes) : []
            }
        }
    }

    private static let (headerSize, segmentSize, noteSegment) = (64, 56, 4 as UInt32)
    /// The name of the note's owner, in the length that the file has, and the note's kind.
    private static let (owner, kind) = (Array("GNU\0".utf8), 3 as UInt32)

    private static func ids(ofSegment segment: Int, _ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        let (offset, size) = (
            number(UInt64.self, at: segment + 8, of: bytes), number(UInt64.self, at: segment + 32, of: bytes)
        )
        let alignment = number(UInt64.self, at: segment + 48, of: bytes) == 8 ? 8 : 4
        guard offset <= UInt64(bytes.count), size <= UInt64(bytes.count) - offset else { return [] }
        let end = Int(offset + size)
        var place = Int(offset)
        var ids: [Range<Int>] = []
        while end - place >= 12 {
            let name = Int(number(UInt32.self, at: place, of: bytes))
            let length = Int(number(UInt32.self, at: place + 4, of: bytes))
            let text = place + 12
            let begin = text + aligned(name, 4)
            guard begin <= end, length <= end - begin else { break }
            if number(UInt32.self, at: place + 8, of: bytes) == kind, bytes[text..<text + name].elementsEqual(owner) {
                ids.append(begin..<begin + length)
            }
            place = min(end, begin + aligned(length, alignment))
        }
        return ids
    }

    private static func aligned(_ length: Int, _ alignment: Int) -> Int {
        (length + alignment - 1) / alignment * alignment
    }

    private static func number<Number: FixedWidthInteger>(
        _: Number.Type, at place: Int, of bytes: UnsafeRawBufferPointer
    ) -> Number {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Number.self))
    }
}
