import CLinux
import CRecording
import OperationEngine
import Synchronization

/// Records what a program's queues do in a file, which `opbench trace` explains and `opbench init --from-trace` replays.
///
/// The article "Recording a program" of OperationEngine is its guide. Each thread collects its events in memory of its
/// own; one more thread writes them to the file, every 100 ms or earlier. Where the disk is too slow, events are left
/// out and counted; no thread of the program waits for the disk, except in `stop`. A program that is killed loses the
/// last 100 ms. When the file reaches half of the limit, it is renamed to `path.1`, in the place of an earlier one, and
/// a new one begins. A forked child records nothing.
///
/// Every member may be used from any thread.
public final class TraceRecorder: OperationTrace.Receiver, @unchecked Sendable {
    /// The reason why a recording cannot begin.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// The file cannot be made: its path, and the system's error number.
        case file(path: String, errno: Int32)
        /// The system refuses a thread: its error number.
        case thread(errno: Int32)
        /// This recorder is recording already.
        case isRecording

        /// One line: what happened, and where.
        public var description: String {
            switch self {
            case .file(let path, let code): "\(path): cannot be written: \(String(cString: strerror(code)))"
            case .thread(let code): "no thread for the recording: \(String(cString: strerror(code)))"
            case .isRecording: "this recorder is recording already"
            }
        }
    }

    /// The file. A number for the process has replaced `%p`.
    public let path: String
    let limit: Int
    private let measuresProcessorTime: Bool
    private let ringCapacity: Int
    /// Leads a thread to its ring. Never deleted: a thread may call a recorder late.
    private let slot: UInt32
    private let lock = FutexLock()
    /// Guarded by `lock`.
    private var writer: RecordingWriter?
    /// Guarded by `lock`.
    private var lastSession: UInt64 = 0
    /// The number of the recording that goes on; 0 if none does. Written under `lock`. Relaxed: a thread that sees it
    /// late leaves out an event, or writes one into a ring that is not read any more.
    private let session = Atomic<UInt64>(0)

    /// A recorder that has not begun.
    ///
    /// - Parameters:
    ///   - path: the file; `%p` in it becomes the number of the process. It is replaced if it exists.
    ///   - limit: the most bytes that the file and `path.1` take together; at least 1 MiB. An operation takes some 160.
    ///   - measuresProcessorTime: whether to ask the system for the CPU time of each operation's thread when it starts
    ///     and when it ends, clock_gettime(2) and getrusage(2).
    public convenience init(to path: String, limit: Int = 64 << 20, measuresProcessorTime: Bool = true) {
        self.init(to: path, limit: limit, measuresProcessorTime: measuresProcessorTime, ringCapacity: 1 << 13)
    }

    /// - Parameter ringCapacity: the events that a thread may be ahead of the disk, a power of two.
    package init(to path: String, limit: Int, measuresProcessorTime: Bool, ringCapacity: Int) {
        self.path = Self.expanded(path)
        self.limit = max(limit, 1 << 20)
        self.measuresProcessorTime = measuresProcessorTime
        self.ringCapacity = ringCapacity
        var slot: UInt32 = 0
        let code = clinux_make_slot(&slot) { ring in
            if let ring { Unmanaged<EventRing>.fromOpaque(ring).takeRetainedValue().end() }
        }
        precondition(code == 0, "the process has no thread-specific data left")
        self.slot = slot
    }

    /// A recorder that has begun, if the environment variable `OPERATION_ENGINE_RECORD` names its file; nil if it is not
    /// set or empty. If the recording cannot begin, one line on standard error says why, and the result is nil.
    @discardableResult
    public static func fromEnvironment() -> TraceRecorder? {
        guard let value = getenv("OPERATION_ENGINE_RECORD"), value.pointee != 0 else { return nil }
        let recorder = TraceRecorder(to: String(cString: value))
        do throws(Failure) {
            try recorder.start()
            return recorder
        } catch {
            Misuse.write("\(error)")
            return nil
        }
    }

    /// Makes the file and begins. The recording ends with `stop`, or when the process exits.
    public func start() throws(Failure) {
        lock.lock()
        defer { lock.unlock() }
        guard writer == nil else { throw .isRecording }
        let writer = try RecordingWriter(path, limit: limit) { [self] in stopRecording() }
        lastSession += 1
        self.writer = writer
        session.store(lastSession, ordering: .relaxed)
        RecordersAtExit.add(self)
        OperationTrace.install(self)
    }

    /// Ends the recording: writes what is collected, and closes the file. Waits for the disk. Does nothing if none goes
    /// on, or in a forked child.
    public func stop() {
        let writer = lock.withLock {
            defer { self.writer = nil }
            return self.writer
        }
        guard let writer else { return }
        stopRecording()
        writer.finish()
    }

    /// Also called by the writer's thread, if the file cannot be written any more.
    private func stopRecording() {
        session.store(0, ordering: .relaxed)
        OperationTrace.remove(self)
    }

    // MARK: Receiving

    /// Called by the engine.
    public func receive(_ event: OperationTrace.OperationEvent) {
        guard let ring = ownRing else { return }
        let id = event.id.rawValue
        switch event.step {
        case .enqueued:
            var record = ring.record(crecording_enqueued, id, at: event.time)
            if event.operation == nil { record.flags = UInt8(crecording_is_closure) }
            if event.isBarrier { record.flags |= UInt8(crecording_is_barrier) }
            if let operation = event.operation {
                record.value = Int64(Int(bitPattern: unsafeBitCast(type(of: operation), to: UnsafeRawPointer.self)))
                record.priority = Int8(truncatingIfNeeded: operation.queuePriority.rawValue)
            }
            if let queue = event.queue { record.detail = number(of: queue, entered: event, on: ring) }
            ring.append(record)
        case .ready: ring.append(ring.record(crecording_ready, id, at: event.time))
        case .started:
            if measuresProcessorTime { ring.begin(id) }
            ring.append(ring.record(crecording_started, id, at: event.time))
        case .finished:
            var record = ring.record(crecording_finished, id, at: event.time)
            record.value = -1
            if measuresProcessorTime, let use = ring.end(id) {
                record.value = use.cpu_ns
                record.detail = UInt32(clamping: use.voluntary_switches)
            }
            if event.operation?.isCancelled ?? false { record.flags = UInt8(crecording_is_cancelled) }
            ring.append(record)
        case .notified: ring.append(ring.record(crecording_notified, id, at: event.time))
        }
    }

    /// Called by the engine.
    public func receive(_ event: OperationTrace.ThreadEvent) {
        guard let ring = ownRing else { return }
        let kind =
            switch event.step {
            case .begin: crecording_begin
            case .end: crecording_thread_end
            case .park: crecording_park
            case .unpark: crecording_unpark
            case .wake: crecording_wake
            case .leaseTaken: crecording_lease_taken
            case .leaseGivenUp: crecording_lease_given_up
            case .growth: crecording_growth
            case .shrinkage: crecording_shrinkage
            }
        var record = ring.record(kind, UInt64(UInt32(bitPattern: event.thread)), at: event.time)
        record.value = Int64(event.other ?? 0)
        if let queue = event.queue { record.detail = number(of: queue, entered: nil, on: ring) }
        ring.append(record)
    }

    /// Called by the engine.
    public func receive(_ event: OperationTrace.ChangeEvent) {
        guard let ring = ownRing else { return }
        switch event.change {
        case .made(let queue): ring.writer.queues.add(queue)
        case .name(let queue): ring.writer.queues.note(queue)
        case .limit(let queue): ring.append(ring.writer.queues.note(queue).limitRecord(at: ring.time(event.time)))
        case .suspended(let queue), .resumed(let queue):
            let isSuspended = if case .suspended = event.change { true } else { false }
            let known = ring.writer.queues.note(queue, isSuspended: isSuspended)
            ring.append(known.suspensionRecord(at: ring.time(event.time)))
        case .cancelled(let id): ring.append(ring.record(crecording_cancelled, id.rawValue, at: event.time))
        case .dependency(let id, let other):
            var record = ring.record(crecording_dependency, id.rawValue, at: event.time)
            record.value = Int64(bitPattern: other.rawValue)
            ring.append(record)
        }
    }

    /// The number of a queue in the file. The first operation that enters a queue without one brings its settings.
    private func number(
        of queue: OperationTrace.QueueID, entered event: OperationTrace.OperationEvent?, on ring: EventRing
    ) -> UInt32 {
        if let number = ring.knownNumber(of: queue) { return number }
        var known = ring.writer.queues.entry(of: queue)
        // Only an operation that enters it keeps the queue alive.
        if !known.isNoted, let event, let entered = event.enteredQueue {
            known = ring.writer.queues.note(entered)
            ring.append(known.limitRecord(at: ring.time(event.time)))
            if known.isSuspended { ring.append(known.suspensionRecord(at: ring.time(event.time))) }
        }
        if known.isNoted { ring.remember(queue, known.number) }
        return known.number
    }

    // MARK: The caller's ring

    private var ownRing: EventRing? {
        let session = session.load(ordering: .relaxed)
        guard session != 0 else { return nil }
        if let known = clinux_slot_value(slot) {
            let ring = Unmanaged<EventRing>.fromOpaque(known).takeUnretainedValue()
            if ring.session == session { return ring }
        }
        return makeRing()
    }

    @inline(never)
    private func makeRing() -> EventRing? {
        let ring: EventRing? = lock.withLock {
            guard let writer, session.load(ordering: .relaxed) != 0 else { return nil }
            return EventRing(capacity: ringCapacity, session: lastSession, writer: writer)
        }
        guard let ring else { return nil }
        if let former = clinux_slot_value(slot) { Unmanaged<EventRing>.fromOpaque(former).takeRetainedValue().end() }
        clinux_set_slot_value(slot, Unmanaged.passRetained(ring).toOpaque())
        ring.writer.add(ring)
        return ring
    }

    // MARK: Words

    private static func expanded(_ path: String) -> String {
        var expanded = ""
        var rest = path[...]
        while let character = rest.popFirst() {
            if character == "%", rest.first == "p" {
                rest.removeFirst()
                expanded += String(clinux_getpid())
            } else {
                expanded.append(character)
            }
        }
        return expanded
    }
}

/// The recorders that have begun, which `exit` stops.
private enum RecordersAtExit {
    private static let lock = FutexLock()
    /// Guarded by `lock`.
    private nonisolated(unsafe) static var recorders: [TraceRecorder]?

    static func add(_ recorder: TraceRecorder) {
        lock.withLock {
            if recorders == nil { atexit { RecordersAtExit.stopAll() } }
            if !(recorders ?? []).contains(where: { $0 === recorder }) { recorders = (recorders ?? []) + [recorder] }
        }
    }

    private static func stopAll() { for recorder in lock.withLock({ recorders ?? [] }) { recorder.stop() } }
}
