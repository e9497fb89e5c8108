import OpBenchModel

/// The file in which a sample's process passes its trace to its parent.
///
/// Little-endian, in this order:
///
/// | part | content |
/// | --- | --- |
/// | magic | the eight bytes `opbtrace` |
/// | version | 32 bits, `version` |
/// | order | 32 bits, 0x01020304, which reads differently on a machine of the other byte order |
/// | numbers | 64 bits each: process, workers, stop mark, lost operations, 1 if waits for a processor are known |
/// | counts | 64 bits each: bytes of text, threads, queues, classes, operations, thread events, spans, dependencies, waits |
/// | threads | 16 bytes each: role, id, length of the name |
/// | queues | 16 bytes each: limit or 0, length of the name |
/// | classes | 8 bytes each: length of the name |
/// | records | the arrays of operations, thread events, spans, dependencies and waits, as they are in memory |
/// | texts | UTF-8 without separators: the title's rest, then all names in the order above |
///
/// The lengths determine the file's exact size.
public enum TraceFile {
    public static let version: UInt32 = 3

    static let magic = Array("opbtrace".utf8)
    static let order: UInt32 = 0x0102_0304

    /// The size of everything before the threads.
    static let headerSize = 8 + 4 + 4 + 5 * 8 + 9 * 8

    /// Writes the bytes of a trace, in pieces. Does not check them; the reader does.
    public static func write(_ trace: SampleTrace, to sink: any ByteSink) throws {
        var bytes = magic
        bytes.append(littleEndian: version)
        bytes.append(littleEndian: order)
        for number in [
            Int64(trace.processID), Int64(trace.workerCount), trace.stop, Int64(trace.lostOperations),
            trace.waits == nil ? 0 : 1,
        ] { bytes.append(littleEndian: number) }
        let texts =
            [trace.title] + trace.threads.map(\.name) + trace.queues.map(\.name) + trace.classes
        for count in [
            texts.reduce(0) { $0 + $1.utf8.count }, trace.threads.count, trace.queues.count, trace.classes.count,
            trace.operations.count, trace.threadEvents.count, trace.spans.count, trace.dependencies.count,
            trace.waits?.count ?? 0,
        ] { bytes.append(littleEndian: Int64(count)) }
        for thread in trace.threads {
            bytes.append(littleEndian: UInt32(thread.role.rawValue))
            bytes.append(littleEndian: thread.id)
            bytes.append(littleEndian: Int64(thread.name.utf8.count))
        }
        for queue in trace.queues {
            bytes.append(littleEndian: Int64(queue.limit ?? 0))
            bytes.append(littleEndian: Int64(queue.name.utf8.count))
        }
        for name in trace.classes { bytes.append(littleEndian: Int64(name.utf8.count)) }
        try sink.write(bytes)
        try writeRecords(trace.operations, to: sink)
        try writeRecords(trace.threadEvents, to: sink)
        try writeRecords(trace.spans, to: sink)
        try writeRecords(trace.dependencies, to: sink)
        try writeRecords(trace.waits ?? [], to: sink)
        try sink.write(Array(texts.joined().utf8))
    }

    /// The number of records to write at a time, which limits the temporary copy.
    private static let part = 1 << 15

    static func writeRecords<Record: BitwiseCopyable>(_ records: [Record], to sink: any ByteSink) throws {
        var start = 0
        while start < records.count {
            let end = min(records.count, start + part)
            try sink.write(records[start..<end].withUnsafeBytes { Array($0) })
            start = end
        }
    }
}

extension [UInt8] {
    mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

// MARK: - Reading

extension TraceFile {
    /// - Throws: `TraceError` unless the file is complete, consistent and of this version.
    public static func read(_ bytes: [UInt8]) throws(TraceError) -> SampleTrace {
        var reader = RecordReader(bytes)
        guard bytes.starts(with: magic) else { throw TraceError("this is not a trace of opbench") }
        reader.offset = magic.count
        guard bytes.count >= headerSize else { throw TraceError("the trace is cut short") }
        let version: UInt32 = reader.number()
        guard version == Self.version else {
            throw TraceError("the trace has version \(version), but this opbench reads \(Self.version)")
        }
        guard reader.number() as UInt32 == order else { throw TraceError("the trace is from another kind of machine") }
        let numbers: [Int64] = (0..<5).map { _ in reader.number() }
        let counts: [Int64] = (0..<9).map { _ in reader.number() }
        let sizes = [
            1, 16, 16, 8, MemoryLayout<TracedOperation>.size, MemoryLayout<TracedThreadEvent>.size,
            MemoryLayout<TracedSpan>.size, MemoryLayout<TracedDependency>.size, MemoryLayout<TracedWait>.size,
        ]
        let words = (verb: "the trace is", possessive: "the trace's")
        if let fault = reader.fault(of: counts, sizes, header: headerSize, what: words) { throw TraceError(fault) }

        var trace = SampleTrace(workerCount: try int(numbers[1], "workers"))
        guard let process = Int32(exactly: numbers[0]) else {
            throw TraceError("no process has the number \(numbers[0])")
        }
        trace.processID = process
        trace.stop = numbers[2]
        trace.lostOperations = try int(numbers[3], "lost operations")
        let lengths = try readTables(&reader, counts, into: &trace)
        trace.operations = reader.records(Int(counts[4]))
        trace.threadEvents = reader.records(Int(counts[5]))
        trace.spans = reader.records(Int(counts[6]))
        trace.dependencies = reader.records(Int(counts[7]))
        let waits: [TracedWait] = reader.records(Int(counts[8]))
        trace.waits = numbers[4] == 0 ? nil : waits
        try readTexts(Array(bytes[reader.offset...]), lengths, into: &trace)
        try trace.check()
        return trace
    }

    private static func int(_ number: Int64, _ what: String) throws(TraceError) -> Int {
        guard number >= 0, let value = Int(exactly: number) else { throw TraceError("\(number) \(what)") }
        return value
    }

    /// - Returns: the lengths of the names, in order.
    private static func readTables(
        _ reader: inout RecordReader, _ counts: [Int64], into trace: inout SampleTrace
    ) throws(TraceError) -> [Int64] {
        var lengths: [Int64] = []
        for _ in 0..<counts[1] {
            let role: UInt32 = reader.number()
            guard let role = UInt8(exactly: role).flatMap(SampleTrace.Thread.Role.init) else {
                throw TraceError("a thread of unknown role \(role)")
            }
            trace.threads.append(SampleTrace.Thread(name: "", role: role, id: reader.number()))
            lengths.append(reader.number())
        }
        for _ in 0..<counts[2] {
            let limit = try int(reader.number(), "as a queue's limit")
            trace.queues.append(SampleTrace.Queue(name: "", limit: limit == 0 ? nil : limit))
            lengths.append(reader.number())
        }
        for _ in 0..<counts[3] {
            trace.classes.append("")
            lengths.append(reader.number())
        }
        return lengths
    }

    /// Invalid UTF-8 is replaced, as in `String(decoding:as:)`, because names are only for display.
    private static func readTexts(
        _ texts: [UInt8], _ lengths: [Int64], into trace: inout SampleTrace
    ) throws(TraceError) {
        var rest = Int64(texts.count)
        for length in lengths {
            guard length >= 0, length <= rest else { throw TraceError("the trace's names are longer than its texts") }
            rest -= length
        }
        var offset = Int(rest)
        trace.title = String(decoding: texts[..<offset], as: UTF8.self)
        var names = lengths.map { length in
            defer { offset += Int(length) }
            return String(decoding: texts[offset..<offset + Int(length)], as: UTF8.self)
        }[...]
        for index in trace.threads.indices { trace.threads[index].name = names.removeFirst() }
        for index in trace.queues.indices { trace.queues[index].name = names.removeFirst() }
        for index in trace.classes.indices { trace.classes[index] = names.removeFirst() }
    }
}

/// Reads numbers and arrays from bytes whose length has been checked.
struct RecordReader {
    let bytes: [UInt8]
    var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A mismatch between a file's size and its counts, checked before anything is allocated; nil if they match.
    ///
    /// - Parameters:
    ///   - sizes: the size of a record of each kind, in bytes.
    ///   - what: the file's content, with a verb: `the trace is`, `the trace's`.
    func fault(
        of counts: [Int64], _ sizes: [Int], header: Int, what: (verb: String, possessive: String)
    ) -> String? {
        var expected = Int64(header)
        for (count, size) in zip(counts, sizes) {
            let (product, overflow) = count.multipliedReportingOverflow(by: Int64(size))
            let (sum, carry) = expected.addingReportingOverflow(product)
            guard count >= 0, !overflow, !carry else { return "\(what.possessive) counts are out of range" }
            expected = sum
        }
        if expected == bytes.count { return nil }
        return expected > bytes.count
            ? "\(what.verb) cut short: \(bytes.count) of \(expected) bytes"
            : "\(what.verb) followed by \(counted(Int64(bytes.count) - expected, "byte")) of something else"
    }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>() -> Number {
        defer { offset += MemoryLayout<Number>.size }
        return Number(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) })
    }

    /// - Precondition: there are that many bytes.
    mutating func text(_ length: Int) -> String {
        defer { offset += length }
        return String(decoding: bytes[offset..<offset + length], as: UTF8.self)
    }

    /// - Precondition: there are that many records.
    mutating func records<Record: BitwiseCopyable>(_ count: Int) -> [Record] {
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
