import CLinux
import CRecording
import OperationEngine

/// The parts of a recording on disk: see CRecording.h. Used by one thread.
final class RecordingFile {
    private let path: String
    /// In bytes, of a part.
    private let limit: Int
    private let startTime: Int64
    private let program: String
    private let recording = UInt64.random(in: 1 ... .max)
    /// The same for all recordings of this process until execve(2).
    private static let programRun = UInt64.random(in: 1 ... .max)
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
    private static let longestPayload = Int(crecording_longest_payload)

    private struct Name: Hashable {
        let kind: UInt32
        let subject: UInt64
    }

    /// - Parameter startTime: when the recording begins.
    init(_ path: String, limit: Int, startTime: Int64) throws(TraceRecorder.Failure) {
        self.path = path
        self.limit = limit / 2
        self.startTime = startTime
        (descriptor, isRegular) = try Self.open(path)
        if isRegular {
            if Self.isMadeBeforeExec(path) {
                clinux_release_file(descriptor)
                throw .madeBeforeExec(path: path)
            }
            clinux_empty_file(descriptor)
        }
        program = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { text in
            let bytes = text[..<clinux_program_path(text.baseAddress, text.count)]
            return String(decoding: bytes.split(separator: UInt8(ascii: "/")).last ?? bytes, as: UTF8.self)
        }
        writeStart()
    }

    private static func open(_ path: String) throws(TraceRecorder.Failure) -> (descriptor: Int32, isRegular: Bool) {
        var isRegular = false
        let descriptor = clinux_hold_file(path, &isRegular)
        if descriptor == -EWOULDBLOCK { throw .inUse(path: path) }
        if descriptor < 0 { throw .file(path: path, errno: -descriptor) }
        return (descriptor, isRegular)
    }

    /// Whether a file begins with a recording that this process made before execve(2). It keeps the process's number,
    /// and the instant of its beginning, which sets it apart from an earlier process of that number.
    private static func isMadeBeforeExec(_ path: String) -> Bool {
        let headerSize = MemoryLayout<crecording_header>.size
        let size = headerSize + MemoryLayout<crecording_start>.size
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { bytes in
            guard clinux_read_file(path, bytes.baseAddress, size) == size else { return false }
            let header = bytes.load(as: crecording_header.self)
            let start = bytes.load(fromByteOffset: headerSize, as: crecording_start.self)
            return header.magic == crecording_magic && header.version == crecording_version
                && header.kind == crecording_block_start.rawValue && start.process == clinux_getpid()
                && start.process_start == clinux_process_start() && start.program_run != programRun
        }
    }

    // MARK: What is written

    private func writeStart() {
        let start = crecording_start(
            date: Int64(time(nil)), clock_start: startTime, process_start: clinux_process_start(),
            program_run: Self.programRun, process: clinux_getpid(), processors: clinux_allowed_processors(),
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
        if newNames.count > Self.longestPayload / 2 { writeNames() }
    }

    private func writeNames() {
        if newNames.isEmpty { return }
        writeBlock(crecording_block_names, newNames)
        newNames = []
    }

    func write(
        _ list: UnsafeBufferPointer<crecording_event>, of events: ThreadEvents, lost: Int, _ queues: RecordedQueues
    ) {
        let bytes = UnsafeRawBufferPointer(list)
        if isRegular, size + newNames.count + bytes.count + Self.reserve > limit { rotate(queues) }
        nameSubjects(of: list, events)
        writeNames()
        writeBlock(crecording_block_events, thread: events.thread, lost: lost, bytes)
    }

    private func nameSubjects(of list: UnsafeBufferPointer<crecording_event>, _ events: ThreadEvents) {
        name(crecording_named_thread, UInt64(UInt32(bitPattern: events.thread))) { events.name }
        let enqueued = UInt8(truncatingIfNeeded: crecording_enqueued.rawValue)
        for event in list where event.kind == enqueued && event.value != 0 {
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
        close()
    }

    func close() {
        clinux_release_file(descriptor)
        (names, newNames) = ([:], [])
    }

    // MARK: Parts

    /// Continues in a new file, which begins with the names and settings that what follows needs.
    private func rotate(_ queues: RecordedQueues) {
        if hasFailed { return }
        let failure = clinux_rename(path, path + ".1")
        if failure != 0 { return fail(.file(path: path, errno: failure)) }
        do throws(TraceRecorder.Failure) {
            // The former file stays held until the new one is, for those that find it in the meantime.
            let next = try Self.open(path).descriptor
            clinux_release_file(descriptor)
            descriptor = next
            clinux_empty_file(descriptor)
        } catch { return fail(error) }
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
            writeBlock(crecording_block_events, UnsafeRawBufferPointer(rebasing: $0.prefix(Self.longestPayload)))
        }
    }

    private func writeBlock(_ kind: crecording_block, _ payload: [UInt8]) {
        payload.withUnsafeBytes { writeBlock(kind, $0) }
    }

    private func writeBlock(
        _ kind: crecording_block, thread: Int32 = 0, lost: Int = 0, _ payload: UnsafeRawBufferPointer
    ) {
        if hasFailed { return }
        var header = crecording_header()
        header.kind = kind.rawValue
        header.thread = thread
        header.recording = recording
        header.number = number
        header.lost = UInt64(lost)
        crecording_seal(&header, payload.baseAddress, payload.count)
        number += 1
        let headerSize = MemoryLayout<crecording_header>.size
        size += headerSize + payload.count
        let failure = clinux_write_both(descriptor, &header, headerSize, payload.baseAddress, payload.count)
        if failure != 0 { fail(.file(path: path, errno: failure)) }
    }

    private func fail(_ failure: TraceRecorder.Failure) {
        if hasFailed { return }
        hasFailed = true
        Misuse.write("the recording ends: \(failure)")
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
