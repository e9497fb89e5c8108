import CLinux
import CRecording
import OperationEngine

/// The parts of a recording on disk: see CRecording.h. Used by one thread.
final class RecordingFile {
    private let path: String
    /// In bytes, of a part.
    private let limit: Int
    private let program: String
    private let recording = UInt64.random(in: 1 ... .max)
    private var descriptor: Int32
    /// Whether it is a regular file, which alone is renamed.
    private let isRegular: Bool
    private var size = 0
    private var part: UInt32 = 0
    private var number: UInt64 = 0
    private(set) var hasFailed = false

    /// The names of classes and threads that events have referred to: all of them, and those that are to be written.
    private var names: [Name: String] = [:]
    private var newNames: [UInt8] = []

    /// Room for headers, names that the block brings, and the end, in bytes.
    private static let reserve = 16 << 10

    private struct Name: Hashable {
        let kind: UInt32
        let subject: UInt64
    }

    init(_ path: String, limit: Int) throws(TraceRecorder.Failure) {
        self.path = path
        self.limit = limit / 2
        var isRegular = false
        descriptor = clinux_create_file(path, &isRegular)
        if descriptor < 0 { throw .file(path: path, errno: -descriptor) }
        self.isRegular = isRegular
        program = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { text in
            let bytes = text[..<clinux_program_path(text.baseAddress, text.count)]
            return String(decoding: bytes.split(separator: UInt8(ascii: "/")).last ?? bytes, as: UTF8.self)
        }
        writeStart()
    }

    // MARK: What is written

    private func writeStart() {
        let start = crecording_start(
            date: Int64(time(nil)), process: clinux_getpid(), processors: clinux_allowed_processors(),
            part: part, length: UInt32(program.utf8.count))
        var payload: [UInt8] = []
        payload.append(start)
        payload.append(padded: program)
        writeBlock(crecording_block_start, payload)
    }

    func add(_ kind: crecording_named, _ subject: UInt64, _ name: String) {
        let text = String(decoding: name.utf8.prefix(4096), as: UTF8.self)
        newNames.append(crecording_name(kind: kind.rawValue, length: UInt32(text.utf8.count), subject: subject))
        newNames.append(padded: text)
        if newNames.count > Int(crecording_longest_payload) / 2 { writeNames() }
    }

    private func writeNames() {
        if newNames.isEmpty { return }
        writeBlock(crecording_block_names, newNames)
        newNames = []
    }

    func write(_ events: [crecording_event], of ring: EventRing, lost: Int, _ queues: RecordedQueues) {
        let mostEvents = Int(crecording_longest_payload) / MemoryLayout<crecording_event>.size
        var lost = lost
        var rest = events[...]
        repeat {
            let block = rest.prefix(mostEvents)
            rest = rest.dropFirst(block.count)
            if isRegular,
                size + newNames.count + block.count * MemoryLayout<crecording_event>.size + Self.reserve > limit
            {
                rotate(queues)
            }
            nameSubjects(of: block, ring)
            writeNames()
            writeBlock(crecording_block_events, thread: ring.thread, lost: lost, block.withUnsafeBytes { Array($0) })
            lost = 0
        } while !rest.isEmpty
    }

    private func nameSubjects(of events: ArraySlice<crecording_event>, _ ring: EventRing) {
        name(crecording_named_thread, UInt64(UInt32(bitPattern: ring.thread))) { ring.name }
        let enqueued = UInt8(truncatingIfNeeded: crecording_enqueued.rawValue)
        for event in events where event.kind == enqueued && event.value != 0 {
            name(crecording_named_class, UInt64(bitPattern: event.value)) {
                // A class of the program. Classes are never unloaded.
                String(describing: unsafeBitCast(Int(event.value), to: AnyClass.self))
            }
        }
    }

    private func name(_ kind: crecording_named, _ subject: UInt64, _ text: () -> String) {
        let key = Name(kind: kind.rawValue, subject: subject)
        if names[key] != nil { return }
        let text = text()
        names[key] = text
        add(kind, subject, text)
    }

    func end(at time: Int64) {
        writeNames()
        var payload: [UInt8] = []
        payload.append(time)
        writeBlock(crecording_block_end, payload)
        closeFile()
    }

    // MARK: Parts

    /// Continues in a new file, which begins with the names and settings that what follows needs.
    private func rotate(_ queues: RecordedQueues) {
        closeFile()
        let failure = clinux_rename(path, path + ".1")
        if failure != 0 { return fail(failure) }
        descriptor = clinux_create_file(path, nil)
        if descriptor < 0 { return fail(-descriptor) }
        size = 0
        part += 1
        writeStart()
        newNames = []
        // Threads that are gone have no names any more.
        names = names.filter { $0.key.kind == crecording_named_class.rawValue }
        for (key, text) in names { add(crecording_named(key.kind), key.subject, text) }
        let all = queues.all.filter(\.isNoted)
        for queue in all { if let name = queue.name { add(crecording_named_queue, UInt64(queue.number), name) } }
        writeNames()
        let limits = all.map { $0.limitRecord(at: 0) }
        limits.withUnsafeBytes {
            writeBlock(crecording_block_events, Array($0.prefix(Int(crecording_longest_payload))))
        }
    }

    private func closeFile() {
        if descriptor >= 0 { clinux_close(descriptor) }
        descriptor = -1
    }

    private func writeBlock(_ kind: crecording_block, thread: Int32 = 0, lost: Int = 0, _ payload: [UInt8]) {
        if hasFailed { return }
        var header = crecording_header()
        header.kind = kind.rawValue
        header.thread = thread
        header.recording = recording
        header.number = number
        header.lost = UInt64(lost)
        payload.withUnsafeBytes { crecording_seal(&header, $0.baseAddress, $0.count) }
        var block: [UInt8] = []
        block.reserveCapacity(MemoryLayout<crecording_header>.size + payload.count)
        block.append(header)
        block += payload
        number += 1
        size += block.count
        let failure = block.withUnsafeBytes { clinux_write_all(descriptor, $0.baseAddress, $0.count) }
        if failure != 0 { fail(failure) }
    }

    private func fail(_ code: Int32) {
        if hasFailed { return }
        hasFailed = true
        Misuse.write("the recording ends: \(TraceRecorder.Failure.file(path: path, errno: code))")
    }
}

extension [UInt8] {
    fileprivate mutating func append<Value: BitwiseCopyable>(_ value: Value) {
        Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
    }

    /// With zeros up to a multiple of eight bytes.
    fileprivate mutating func append(padded text: String) {
        append(contentsOf: text.utf8)
        append(contentsOf: repeatElement(0, count: (8 - text.utf8.count % 8) % 8))
    }
}
