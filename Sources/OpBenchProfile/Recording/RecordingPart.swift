import CRecording
import OpBenchModel

/// One file of a recording, read block by block. Memory: a block, and a piece of the file.
struct RecordingPart {
    enum Content {
        case start(crecording_start, program: String)
        case events([crecording_event], thread: Int32, lost: UInt64)
        case names([(name: crecording_name, text: String)])
        case end(TraceTime)
    }

    struct Block {
        /// In the file.
        var offset: Int
        /// The content's place in the file.
        var payload: Int { offset + RecordingPart.headerSize }
        var content: Content
    }

    let path: String
    private let source: ReadFile
    /// Bytes that are read; those from `position` on are not taken yet, and are at `offset` in the file.
    private var buffer: [UInt8] = []
    private var position = 0
    private(set) var offset = 0
    /// The numbers of the recording and of the next block.
    private(set) var recording: UInt64 = 0
    private(set) var number: UInt64 = 0
    private(set) var start = crecording_start()
    private(set) var program = ""

    private static let headerSize = MemoryLayout<crecording_header>.size
    /// In bytes. A recorder's own limit is lower.
    private static let longestFile = 1 << 44

    /// Opens a part and reads its first block.
    init(_ path: String) throws(InputError) {
        self.path = path
        source = try ReadFile(path, limit: Self.longestFile)
        guard let block = try next(isFirst: true) else { throw error(0, "the file is cut before its first block ends") }
        guard case .start(let start, let program) = block.content else {
            throw error(0, "the first block is not a start")
        }
        (self.start, self.program) = (start, program)
    }

    var size: Int { source.size }

    /// Whether the other part is the next one of the same recording.
    func isFollowed(by other: RecordingPart) -> Bool {
        recording == other.recording && start.part < other.start.part && start.part + 1 == other.start.part
    }

    func error(_ offset: Int, _ message: String) -> InputError {
        InputError(
            file: path, path: "byte \(offset)", message: message,
            remedy: "give a recording of OperationEngineRecorder as it was written")
    }

    /// The next block; nil at the end of the file, or where no whole block begins: what a killed program, a full disk or
    /// a power failure leaves. `offset` is that place.
    mutating func next() throws(InputError) -> Block? { try next(isFirst: false) }

    private mutating func next(isFirst: Bool) throws(InputError) -> Block? {
        guard try fill(Self.headerSize) else {
            // Not even the beginning of one.
            let magic = withUnsafeBytes(of: crecording_magic.littleEndian) { Array($0) }
            if isFirst, !buffer.prefix(8).elementsEqual(magic.prefix(buffer.count)) || buffer.isEmpty {
                throw error(0, "this is not a recording")
            }
            return nil
        }
        var reader = RecordReader(buffer)
        reader.offset = position
        let header: crecording_header = reader.records(1)[0]
        guard try isWhole(header, isFirst: isFirst) else { return nil }
        try check(header, isFirst: isFirst)
        guard try fill(Self.headerSize + Int(header.length)) else { return nil }
        let start = position + Self.headerSize
        let payload = Array(buffer[start..<start + Int(header.length)])
        guard sum(payload) == header.payload_sum else {
            if isFirst { throw error(Self.headerSize, "the block's content is damaged") }
            return nil
        }
        let block = Block(offset: offset, content: try content(of: header, payload))
        (recording, number) = (header.recording, header.number + 1)
        position = start + payload.count
        offset += Self.headerSize + payload.count
        return block
    }

    /// Whether so many bytes are there.
    private mutating func fill(_ count: Int) throws(InputError) -> Bool {
        while buffer.count - position < count {
            let piece = try source.next()
            if piece.isEmpty { return false }
            buffer.removeFirst(position)
            position = 0
            buffer += piece
        }
        return true
    }

    private func sum(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { bytes in bytes.baseAddress.map { crecording_checksum(0, $0, bytes.count) } ?? 0 }
    }

    /// Whether a header is one and undamaged. Throws if the first one is not.
    private func isWhole(_ header: crecording_header, isFirst: Bool) throws(InputError) -> Bool {
        if isFirst, header.magic == crecording_magic, header.version != crecording_version {
            throw error(
                0, "the recording has version \(header.version), but this opbench reads \(crecording_version)")
        }
        let covered = Array(buffer[position..<position + Self.headerSize - 8])
        if header.magic == crecording_magic, sum(covered) == header.header_sum { return true }
        guard isFirst else { return false }
        throw error(
            0, header.magic == crecording_magic ? "the block's header is damaged" : "this is not a recording")
    }

    /// Refuses what no recorder writes.
    private func check(_ header: crecording_header, isFirst: Bool) throws(InputError) {
        guard header.version == crecording_version else {
            throw error(offset, "a block of version \(header.version)")
        }
        guard header.length <= crecording_longest_payload, header.length % 8 == 0 else {
            throw error(offset, "a block of \(header.length) bytes")
        }
        guard header.number < .max, isFirst || header.recording == recording && header.number == number else {
            throw error(offset, "the block is not the one that follows the last one")
        }
    }

    private func content(of header: crecording_header, _ payload: [UInt8]) throws(InputError) -> Content {
        var reader = RecordReader(payload)
        let place = offset + Self.headerSize
        switch crecording_block(header.kind) {
        case crecording_block_start:
            guard let start: crecording_start = record(&reader), let name = text(&reader, start.length),
                reader.offset == payload.count
            else { throw error(place, "the start is shorter or longer than it says") }
            return .start(start, program: name)
        case crecording_block_events:
            let size = MemoryLayout<crecording_event>.size
            guard payload.count % size == 0 else { throw error(place, "a part of an event") }
            return .events(reader.records(payload.count / size), thread: header.thread, lost: header.lost)
        case crecording_block_names:
            var names: [(name: crecording_name, text: String)] = []
            while reader.offset < payload.count {
                guard let name: crecording_name = record(&reader), let text = text(&reader, name.length) else {
                    throw error(place + reader.offset, "a name is longer than its block")
                }
                names.append((name, text))
            }
            return .names(names)
        case crecording_block_end:
            guard let time: TraceTime = record(&reader), reader.offset == payload.count else {
                throw error(place, "the end is not one time")
            }
            return .end(time)
        default: throw error(offset, "a block of the unknown kind \(header.kind)")
        }
    }

    private func record<Record: BitwiseCopyable>(_ reader: inout RecordReader) -> Record? {
        guard reader.offset + MemoryLayout<Record>.size <= reader.bytes.count else { return nil }
        // Without the type, the element would be an optional, which is longer.
        let records: [Record] = reader.records(1)
        return records[0]
    }

    /// A text padded to a multiple of 8 bytes. Invalid UTF-8 is replaced: names are for display.
    private func text(_ reader: inout RecordReader, _ length: UInt32) -> String? {
        let padded = (Int(length) + 7) / 8 * 8
        guard padded <= reader.bytes.count - reader.offset else { return nil }
        defer { reader.offset += padded - Int(length) }
        return reader.text(Int(length))
    }
}
