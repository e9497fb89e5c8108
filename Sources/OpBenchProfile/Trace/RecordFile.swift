import Foundation

/// A file in which a sample's process passes records to its parent, on the same machine: a line that names the content
/// and its version, a line of JSON with what is not an array of records, and the arrays, as they are in memory.
///
/// Its lengths determine the file's exact size.
struct RecordFile {
    /// The file's first line. A change of what follows changes it.
    let title: String

    private struct Head<Content: Codable>: Codable {
        var content: Content
        /// The number of records in each array.
        var counts: [Int]
    }

    /// The number of records to write at a time, which limits the temporary copy.
    private static let part = 1 << 15

    private static func size<Record>(of _: Record.Type) -> Int { MemoryLayout<Record>.stride }

    /// Writes the bytes, in pieces. Does not check them; the reader does.
    func write<each Record: BitwiseCopyable>(
        _ content: some Codable, _ records: repeat [each Record], to sink: any ByteSink
    ) throws {
        var counts: [Int] = []
        for array in repeat each records { counts.append(array.count) }
        let head = try JSONEncoder().encode(Head(content: content, counts: counts))
        try sink.write(Array("\(title)\n".utf8) + head + [UInt8(ascii: "\n")])
        for array in repeat each records {
            for start in stride(from: 0, to: array.count, by: Self.part) {
                let end = min(array.count, start + Self.part)
                try sink.write(array[start..<end].withUnsafeBytes { Array($0) })
            }
        }
    }

    /// - Parameter records: the types of the arrays' elements, for which every bit pattern is a value.
    /// - Throws: `RecordError` unless the file is complete and of this version.
    func read<Content: Codable, each Record: BitwiseCopyable>(
        _ bytes: [UInt8], _: Content.Type, _ records: repeat (each Record).Type
    ) throws(RecordError) -> (Content, repeat [each Record]) {
        let magic = Array("\(title)\n".utf8)
        guard bytes.starts(with: magic), let end = bytes[magic.count...].firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head<Content>.self, from: Data(bytes[magic.count..<end]))
        else { throw RecordError("the file does not begin as one of \(title)") }
        var expected = Int64(end + 1)
        var counts = head.counts[...]
        for type in repeat each records {
            let (size, overflow) = Int64(counts.popFirst() ?? -1)
                .multipliedReportingOverflow(by: Int64(Self.size(of: type)))
            let (sum, carry) = expected.addingReportingOverflow(size)
            guard size >= 0, !overflow, !carry else { throw RecordError("the file's counts are out of range") }
            expected = sum
        }
        guard counts.isEmpty else { throw RecordError("the file's counts are out of range") }
        guard expected == bytes.count else {
            throw RecordError("the file has \(bytes.count) bytes in place of \(expected)")
        }
        var reader = RecordReader(bytes)
        reader.offset = end + 1
        counts = head.counts[...]
        return (head.content, repeat reader.records(counts.removeFirst(), of: each records))
    }
}

/// The reason why records, or a file of them, are rejected. The message is one line of text.
public struct RecordError: Error, Equatable, Sendable, CustomStringConvertible {
    public var message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}

/// Reads arrays and texts from bytes whose length has been checked.
struct RecordReader {
    let bytes: [UInt8]
    var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Precondition: there are that many bytes.
    mutating func text(_ length: Int) -> String {
        defer { offset += length }
        return String(decoding: bytes[offset..<offset + length], as: UTF8.self)
    }

    /// - Precondition: there are that many records.
    mutating func records<Record: BitwiseCopyable>(_ count: Int, of _: Record.Type = Record.self) -> [Record] {
        let size = count * MemoryLayout<Record>.stride
        precondition(offset + size <= bytes.count)
        defer { offset += size }
        return [Record](unsafeUninitializedCapacity: count) { buffer, filled in
            bytes.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(buffer).copyMemory(from: .init(rebasing: $0[offset..<offset + size]))
            }
            filled = count
        }
    }
}
