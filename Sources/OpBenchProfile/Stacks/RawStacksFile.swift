/// The file in which a sample's process passes its stacks to its parent.
///
/// Little-endian, in this order:
///
/// | part | content |
/// | --- | --- |
/// | magic | the eight bytes `opbstack` |
/// | version | 32 bits, `version` |
/// | order | 32 bits, 0x01020304, which reads differently on a machine of the other byte order |
/// | numbers | 64 bits each: process, period, start of threads, lost samples, lost weight, unsampled threads |
/// | counts | 64 bits each: bytes of text, threads, mappings, samples, addresses |
/// | threads | 16 bytes each: id, length of the name |
/// | mappings | 32 bytes each: start, end, base, length of the path |
/// | records | the arrays of samples and addresses, as they are in memory |
/// | texts | UTF-8 without separators: the names of threads, then the paths |
///
/// The lengths determine the file's exact size.
public enum RawStacksFile {
    public static let version: UInt32 = 1

    /// The file's name in the folder of a profile.
    public static let name = "cpu.stacks"

    static let magic = Array("opbstack".utf8)
    static let order: UInt32 = 0x0102_0304
    static let headerSize = 8 + 4 + 4 + 6 * 8 + 5 * 8

    /// Writes the bytes, in pieces. Does not check them; the reader does.
    public static func write(_ stacks: RawStacks, to sink: any ByteSink) throws {
        var bytes = magic
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: order)
        for number in [
            Int64(stacks.processID), stacks.period, Int64(bitPattern: stacks.threadStart), stacks.lostSamples,
            stacks.lostWeight, stacks.unsampledThreads,
        ] { bytes.append(littleEndian: number) }
        let texts = stacks.threads.map(\.name) + stacks.map.mappings.map(\.path)
        for count in [
            texts.reduce(0) { $0 + $1.utf8.count }, stacks.threads.count, stacks.map.mappings.count,
            stacks.samples.count, stacks.addresses.count,
        ] { bytes.append(littleEndian: Int64(count)) }
        for thread in stacks.threads {
            bytes.append(littleEndian: Int64(thread.id))
            bytes.append(littleEndian: Int64(thread.name.utf8.count))
        }
        for mapping in stacks.map.mappings {
            for number in [mapping.start, mapping.end, mapping.base, UInt64(mapping.path.utf8.count)] {
                bytes.append(littleEndian: number)
            }
        }
        try sink.write(bytes)
        try TraceFile.writeRecords(stacks.samples, to: sink)
        try TraceFile.writeRecords(stacks.addresses, to: sink)
        try sink.write(Array(texts.joined().utf8))
    }

    /// - Throws: `StackFileError` unless the file is complete, consistent and of this version.
    public static func read(_ bytes: [UInt8]) throws(StackFileError) -> RawStacks {
        var reader = RecordReader(bytes)
        guard bytes.starts(with: magic) else { throw StackFileError("these are not stacks of opbench") }
        reader.offset = magic.count
        guard bytes.count >= headerSize else { throw StackFileError("the stacks are cut short") }
        let version: UInt32 = reader.number()
        guard version == Self.version else {
            throw StackFileError("the stacks have version \(version), but this opbench reads \(Self.version)")
        }
        guard reader.number() as UInt32 == order else {
            throw StackFileError("the stacks are from another kind of machine")
        }
        let numbers: [Int64] = (0..<6).map { _ in reader.number() }
        let counts: [Int64] = (0..<5).map { _ in reader.number() }
        let sizes = [1, 16, 32, MemoryLayout<RawStacks.Sample>.size, 8]
        let words = (verb: "the stacks are", possessive: "the stacks'")
        if let fault = reader.fault(of: counts, sizes, header: headerSize, what: words) { throw StackFileError(fault) }
        guard let process = Int32(exactly: numbers[0]), numbers[1] > 0, numbers[3...].allSatisfy({ $0 >= 0 }) else {
            throw StackFileError("the stacks' numbers are out of range")
        }
        var stacks = RawStacks(processID: process, period: numbers[1])
        stacks.threadStart = UInt64(bitPattern: numbers[2])
        stacks.lostSamples = numbers[3]
        stacks.lostWeight = numbers[4]
        stacks.unsampledThreads = numbers[5]
        try readTables(&reader, counts, into: &stacks)
        try check(stacks)
        return stacks
    }

    private static func readTables(
        _ reader: inout RecordReader, _ counts: [Int64], into stacks: inout RawStacks
    ) throws(StackFileError) {
        var rest = counts[0]
        func take(_ length: Int64) throws(StackFileError) -> Int {
            guard length >= 0, length <= rest else { throw StackFileError("a name is longer than the stacks' texts") }
            rest -= length
            return Int(length)
        }
        var threads: [(id: Int32, length: Int)] = []
        for _ in 0..<counts[1] {
            let number: Int64 = reader.number()
            guard let id = Int32(exactly: number) else { throw StackFileError("no thread has the number \(number)") }
            threads.append((id, try take(reader.number())))
        }
        var mappings: [(CodeMap.Mapping, length: Int)] = []
        for _ in 0..<counts[2] {
            let mapping = CodeMap.Mapping(
                start: reader.number(), end: reader.number(), base: reader.number(), path: "")
            mappings.append((mapping, try take(reader.number())))
        }
        guard rest == 0 else { throw StackFileError("the stacks' texts are longer than their names") }
        stacks.samples = reader.records(Int(counts[3]))
        stacks.addresses = reader.records(Int(counts[4]))
        // Invalid UTF-8 is replaced, because names are only for display.
        stacks.threads = threads.map { RawStacks.Thread(id: $0.id, name: reader.text($0.length)) }
        let map = CodeMap(
            mappings.map { mapping, length in
                var mapping = mapping
                mapping.path = reader.text(length)
                return mapping
            })
        guard let map else { throw StackFileError("the stacks' mappings overlap") }
        stacks.map = map
    }

    private static func check(_ stacks: RawStacks) throws(StackFileError) {
        var total: Int64 = 0
        for (index, sample) in stacks.samples.enumerated() {
            guard sample.thread < stacks.threads.count else { throw StackFileError("sample \(index): no such thread") }
            let (end, overflow) = sample.first.addingReportingOverflow(Int64(sample.count))
            guard sample.first >= 0, !overflow, end <= stacks.addresses.count else {
                throw StackFileError("sample \(index): no such addresses")
            }
            let (sum, carry) = total.addingReportingOverflow(sample.weight)
            guard sample.weight >= 0, !carry else { throw StackFileError("sample \(index): weight out of range") }
            total = sum
        }
    }
}

/// The reason why a file of stacks cannot be used.
public struct StackFileError: Error, Equatable, Sendable, CustomStringConvertible {
    public var message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}
