import CLinux
import CRecording
import OperationEngine
import Synchronization

/// Records what a program's queues do in a file, which `opbench trace` explains and `opbench init --from-recording` replays.
///
/// The article "Recording a program" of OperationEngine is its guide. Each thread collects its events in memory of its
/// own; one more thread writes them to the file, every 100 ms or earlier. Where the disk is too slow, events are left
/// out and counted; no thread of the program waits for the disk, except in `stop`. A program that is killed loses the
/// last 100 ms. When the file reaches half of the limit, it is renamed to `path.1`, in the place of an earlier one, and
/// a new one begins. A forked child records nothing.
///
/// The memory of a recording is freed when it ends. Every member may be used from any thread.
public final class TraceRecorder: OperationTrace.Receiver, @unchecked Sendable {
    /// The reason why a recording cannot begin.
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// The file cannot be made: its path, and the system's error number.
        case file(path: String, errno: Int32)
        /// Another recording is being written to the file, by this process or another one.
        case inUse(path: String)
        /// The file has a recording that this process made before it executed the program, execve(2).
        case madeBeforeExec(path: String)
        /// The system refuses a thread: its error number.
        case thread(errno: Int32)
        /// This recorder is recording already.
        case isRecording

        /// One line: what happened, and where.
        public var description: String {
            switch self {
            case .file(let path, let code): "\(path): cannot be written: \(String(cString: strerror(code)))"
            case .inUse(let path):
                "\(path): another recording is being written to it; %p in the path gives each process a file of its own"
            case .madeBeforeExec(let path):
                "\(path): it has the recording of the program that this process was before; give this one another path"
            case .thread(let code): "no thread for the recording: \(String(cString: strerror(code)))"
            case .isRecording: "this recorder is recording already"
            }
        }
    }

    /// The file. A number for the process has replaced `%p`.
    public let path: String
    let limit: Int
    private let measuresProcessorTime: Bool
    private let room: ThreadEvents.Room
    private let lock = FutexLock()
    /// Guarded by `lock`.
    private var writer: RecordingWriter?
    /// The number of the recording that goes on; 0 if none does. Only the 0 is also written without `lock`. Relaxed: a
    /// thread that sees it late leaves out an event, or has one that is not written any more.
    private let session = Atomic<UInt64>(0)
    /// The number of the process's last recording. Relaxed: each is used once, and nothing else is read by it.
    private static let sessions = Atomic<UInt64>(0)

    /// A recorder that has not begun.
    ///
    /// - Parameters:
    ///   - path: the file; `%p` in it becomes the number of the process. It is replaced if it exists, unless a recording
    ///     is being written to it, or this process wrote it before execve(2).
    ///   - limit: the most bytes that the file and `path.1` take together; at least 1 MiB. An operation takes some 160.
    ///   - measuresProcessorTime: whether to ask the system for the CPU time of each operation's thread when it starts
    ///     and when it ends, clock_gettime(2) and getrusage(2), and if it was switched meanwhile, for its time in the
    ///     run queue, proc_pid_schedstat(5).
    public convenience init(to path: String, limit: Int = 64 << 20, measuresProcessorTime: Bool = true) {
        self.init(to: path, limit: limit, measuresProcessorTime: measuresProcessorTime, room: ThreadEvents.Room())
    }

    /// - Parameters:
    ///   - piece: the events in a piece of a thread's memory.
    ///   - mostPieces: how many pieces a thread may be ahead of the disk, at least two.
    package convenience init(
        to path: String, limit: Int, measuresProcessorTime: Bool, piece: Int, mostPieces: Int
    ) {
        self.init(
            to: path, limit: limit, measuresProcessorTime: measuresProcessorTime,
            room: ThreadEvents.Room(piece: piece, mostPieces: mostPieces))
    }

    private init(to path: String, limit: Int, measuresProcessorTime: Bool, room: ThreadEvents.Room) {
        self.path = Self.expanded(path)
        self.limit = max(limit, 1 << 20)
        self.measuresProcessorTime = measuresProcessorTime
        self.room = room
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
        self.writer = writer
        session.store(Self.sessions.wrappingAdd(1, ordering: .relaxed).newValue, ordering: .relaxed)
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
        RecordersAtExit.remove(self)
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
        // The program may override these getters and do anything there: before the thread's events are looked up.
        let (priority, isCancelled) =
            switch event.step {
            case .enqueued: (event.operation?.queuePriority.rawValue ?? 0, false)
            case .finished: (0, event.operation?.isCancelled ?? false)
            case .ready, .started, .notified: (0, false)
            }
        guard let own else { return }
        let id = event.id.rawValue
        own._withUnsafeGuaranteedRef { own in
            switch event.step {
            case .enqueued:
                var record = own.record(crecording_enqueued, id, at: event.time)
                if event.operation == nil { record.flags = UInt8(crecording_is_closure) }
                if event.isBarrier { record.flags |= UInt8(crecording_is_barrier) }
                if let operation = event.operation {
                    record.value = Int64(Int(bitPattern: unsafeBitCast(type(of: operation), to: UnsafeRawPointer.self)))
                }
                record.priority = Int8(truncatingIfNeeded: priority)
                if let queue = event.queue { record.detail = number(of: queue, entered: event, on: own) }
                own.append(record)
            case .ready: own.append(own.record(crecording_ready, id, at: event.time))
            case .started:
                var record = own.record(crecording_started, id, at: event.time)
                record.detail = measuresProcessorTime ? own.begin(id) : crecording_unknown
                own.append(record)
            case .finished:
                var record = own.record(crecording_finished, id, at: event.time)
                (record.value, record.detail) = (-1, crecording_unknown)
                if measuresProcessorTime, let use = own.end(id) {
                    (record.value, record.detail) = (use.cpu, use.queued)
                    if use.isUnblocked { record.flags = UInt8(crecording_is_unblocked) }
                }
                if isCancelled { record.flags |= UInt8(crecording_is_cancelled) }
                own.append(record)
            case .notified: own.append(own.record(crecording_notified, id, at: event.time))
            }
        }
    }

    /// Called by the engine.
    public func receive(_ event: OperationTrace.ThreadEvent) {
        guard let own else { return }
        let kind = crecording_kind(UInt32(event.step.rawValue))
        own._withUnsafeGuaranteedRef { own in
            var record = own.record(kind, UInt64(UInt32(bitPattern: event.thread)), at: event.time)
            record.value = Int64(event.other ?? 0)
            if let queue = event.queue { record.detail = number(of: queue, entered: nil, on: own) }
            own.append(record)
        }
    }

    /// Called by the engine.
    public func receive(_ event: OperationTrace.ChangeEvent) {
        own?._withUnsafeGuaranteedRef { own in
            switch event.change {
            case .made(let queue): own.writer.queues.add(queue)
            case .name(let queue): own.writer.queues.note(queue)
            case .limit(let queue): own.append(own.writer.queues.note(queue).limitRecord(at: own.time(event.time)))
            case .suspended(let queue), .resumed(let queue):
                let isSuspended = if case .suspended = event.change { true } else { false }
                let known = own.writer.queues.note(queue, isSuspended: isSuspended)
                own.append(known.suspensionRecord(at: own.time(event.time)))
            case .cancelled(let id): own.append(own.record(crecording_cancelled, id.rawValue, at: event.time))
            case .dependency(let id, let other):
                var record = own.record(crecording_dependency, id.rawValue, at: event.time)
                record.value = Int64(bitPattern: other.rawValue)
                own.append(record)
            }
        }
    }

    /// The number of a queue in the file. The first operation that enters a queue without one brings its settings.
    private func number(
        of queue: OperationTrace.QueueID, entered event: OperationTrace.OperationEvent?, on own: ThreadEvents
    ) -> UInt32 {
        if let number = own.knownNumber(of: queue) { return number }
        var known = own.writer.queues.entry(of: queue)
        // Only an operation that enters it keeps the queue alive.
        if !known.isNoted, let event, let entered = event.enteredQueue {
            known = own.writer.queues.note(entered)
            own.append(known.limitRecord(at: own.time(event.time)))
            if known.isSuspended { own.append(known.suspensionRecord(at: own.time(event.time))) }
        }
        if known.isNoted { own.remember(queue, known.number) }
        return known.number
    }

    /// The calling thread's events; nil if nothing is recorded. Valid until code of the program runs on the thread.
    private var own: Unmanaged<ThreadEvents>? {
        let session = session.load(ordering: .relaxed)
        guard session != 0 else { return nil }
        return ThreadEvents.ofThread(in: session) ?? makeOwn()
    }

    @inline(never)
    private func makeOwn() -> Unmanaged<ThreadEvents>? {
        let own: ThreadEvents? = lock.withLock {
            let session = session.load(ordering: .relaxed)
            guard let writer, session != 0 else { return nil }
            return ThreadEvents(room, session: session, writer: writer)
        }
        guard let own, own.writer.add(own) else { return nil }
        own.keep()
        return .passUnretained(own)
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

/// The recorders that have begun and were not stopped, which `exit` stops.
private enum RecordersAtExit {
    private static let lock = FutexLock()
    /// Guarded by `lock`.
    private nonisolated(unsafe) static var recorders: [TraceRecorder] = []
    private static let handler: Void = { _ = atexit { RecordersAtExit.stopAll() } }()

    static func add(_ recorder: TraceRecorder) {
        handler
        lock.withLock { recorders.append(recorder) }
    }

    static func remove(_ recorder: TraceRecorder) { lock.withLock { recorders.removeAll { $0 === recorder } } }

    private static func stopAll() { for recorder in lock.withLock({ recorders }) { recorder.stop() } }
}
