import Foundation

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
