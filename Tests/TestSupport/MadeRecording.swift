import CRecording

/// A recording that a test makes, block by block, without a program. See CRecording.h.
public struct MadeRecording {
    public private(set) var bytes: [UInt8] = []
    /// The places at which the blocks begin.
    public private(set) var places: [Int] = []
    private var number: UInt64 = 0
    private let recording: UInt64

    /// - Parameter number: the number of the first block: that of the part before, for a later part.
    public init(
        program: String = "server", date: Int64 = 1_700_000_000, processors: Int32 = 2, part: UInt32 = 0,
        recording: UInt64 = 7, number: UInt64 = 0
    ) {
        self.recording = recording
        self.number = number
        let start = crecording_start(
            date: date, clock_start: 1_000_000_000, process_start: 0, program_run: 0, process: 42,
            processors: processors, part: part,
            length: UInt32(program.utf8.count))
        append(crecording_block_start, Self.bytes(of: start) + Self.padded(program))
    }

    /// The number of the next block.
    public var nextNumber: UInt64 { number }

    /// Appends a block of any kind.
    public mutating func append(_ kind: crecording_block, thread: Int32 = 0, lost: UInt64 = 0, _ payload: [UInt8]) {
        var header = crecording_header()
        header.kind = kind.rawValue
        header.thread = thread
        header.recording = recording
        header.number = number
        header.lost = lost
        payload.withUnsafeBytes { crecording_seal(&header, $0.baseAddress, $0.count) }
        places.append(bytes.count)
        bytes += Self.bytes(of: header) + payload
        number += 1
    }

    public mutating func append(events: [crecording_event], thread: Int32 = 42, lost: UInt64 = 0) {
        append(crecording_block_events, thread: thread, lost: lost, events.flatMap(Self.bytes))
    }

    public mutating func append(_ kind: crecording_named, _ subject: UInt64, _ text: String) {
        let name = crecording_name(kind: kind.rawValue, length: UInt32(text.utf8.count), subject: subject)
        append(crecording_block_names, Self.bytes(of: name) + Self.padded(text))
    }

    public mutating func end(at time: Int64) { append(crecording_block_end, Self.bytes(of: time)) }

    private static func padded(_ text: String) -> [UInt8] {
        Array(text.utf8) + [UInt8](repeating: 0, count: (8 - text.utf8.count % 8) % 8)
    }

    private static func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}

extension crecording_event {
    /// An event, with what its kind needs.
    public init(
        _ kind: crecording_kind, _ subject: UInt64 = 0, at time: Int64, value: Int64 = 0, detail: UInt32 = 0,
        flags: Int = 0, priority: Int8 = 0
    ) {
        self.init(
            time: time, subject: subject, value: value, detail: detail, kind: UInt8(truncatingIfNeeded: kind.rawValue),
            flags: UInt8(flags), priority: priority, reserved: 0)
    }
}
