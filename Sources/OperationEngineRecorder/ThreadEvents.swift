import CLinux
import CRecording
import OperationEngine
import Synchronization

/// The events of one thread on their way to the writer: one producer, the thread, and one consumer, the writer's thread.
/// Neither waits for the other.
///
/// They lie in pieces of memory, which are a list. The producer fills the last piece and appends another one. The
/// consumer empties the first piece and hands it back, or frees it. If the writer is `mostPieces` late, events are lost
/// and counted.
///
/// **Argument.** `word` counts the published events from its second bit on. The producer adds 1 before it touches a
/// piece, which sets the lowest bit, and 1 after it, which clears the bit and counts the event. `close` sets the
/// highest bit. All these steps have one order.
/// - The second addition releases and the consumer's load acquires: it reads whole events, and the links between their
///   pieces.
/// - The consumer hands a piece back, releasing, after its last look at it, and the producer takes it, acquiring. So no
///   event is overwritten while it is read.
/// - If `close` finds the lowest bit, the producer's second addition finds the highest bit and frees the pieces.
///   Otherwise every later addition finds the highest bit before it touches a piece, and `close` frees them. Both
///   acquire and release: the one that frees has seen what the other one did.
final class ThreadEvents: @unchecked Sendable {
    /// The memory that a thread may use.
    struct Room {
        /// In events.
        var piece = 1 << 11
        var mostPieces = 1 << 6
    }

    let thread = clinux_own_thread()
    let name: String
    /// The recording that they belong to.
    let session: UInt64
    let writer: RecordingWriter
    private let room: Room

    // For both.
    private let word = Atomic<UInt64>(0)
    /// A piece that was handed back.
    private let spare = Atomic<UnsafeMutableRawPointer?>(nil)
    /// How many pieces there are. Relaxed: it is a bound alone.
    private let pieces = Atomic<Int>(0)
    /// Relaxed: a count alone, which the producer raises.
    private let lost = Atomic<Int>(0)
    /// Set by the thread when it ends, after its last event. Releasing: a consumer that sees it finds all events.
    private let ended = Atomic<Bool>(false)

    // The producer's alone. The consumer reads `first`, and all links, after the events behind them were published.
    private var first: UnsafeMutableRawPointer?
    private var last: UnsafeMutableRawPointer?
    /// The place of the next event, and how many places there are from there on in the last piece.
    private var place: UnsafeMutablePointer<crecording_event>?
    private var places = 0
    /// Operations that have started on this thread and not ended: several, if one starts another by hand.
    private var running: [(id: UInt64, use: clinux_thread_use)] = []
    /// The thread's use at the last start or end of an operation, and the file that it is read from.
    private var use = clinux_thread_use(cpu_ns: 0, voluntary_switches: 0, switches: -1, queued_ns: -1)
    private var useFile: Int32 = -1
    private var lastQueue: (queue: OperationTrace.QueueID, generation: Int, number: UInt32)?
    /// The thread's events of another recording.
    private var next: ThreadEvents?

    // The consumer's alone, until `close`.
    /// The piece of the event `taken - 1`.
    private var reading: UnsafeMutableRawPointer?
    private var taken = 0
    private var reportedLost = 0

    private static let closed: UInt64 = 1 << 63
    /// The link to the next piece takes the place of an event.
    private static let stride = MemoryLayout<crecording_event>.stride

    /// For the calling thread.
    init(_ room: Room, session: UInt64, writer: RecordingWriter) {
        self.room = room
        self.session = session
        self.writer = writer
        name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { text in
            clinux_own_name(text.baseAddress!)
            return String(cString: text.baseAddress!)
        }
    }

    // MARK: The producer

    func time(_ time: Int64) -> Int64 { time - writer.startTime }

    func record(_ kind: crecording_kind, _ subject: UInt64, at time: Int64) -> crecording_event {
        crecording_event(
            time: self.time(time), subject: subject, value: 0, detail: 0,
            kind: UInt8(truncatingIfNeeded: kind.rawValue),
            flags: 0, priority: 0, reserved: 0)
    }

    func append(_ event: crecording_event) {
        guard word.wrappingAdd(1, ordering: .relaxed).oldValue & Self.closed == 0 else { return }
        if places == 0, !appendPiece() {
            lost.wrappingAdd(1, ordering: .relaxed)
            freeIfClosed(word.wrappingSubtract(1, ordering: .acquiringAndReleasing).oldValue)
            return
        }
        place.unsafelyUnwrapped.initialize(to: event)
        place = place.unsafelyUnwrapped + 1
        places -= 1
        let isFull = places == 0
        freeIfClosed(word.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue)
        if isFull { writer.call() }
    }

    @inline(__always)
    private func freeIfClosed(_ word: UInt64) {
        if word & Self.closed != 0 { freePieces() }
    }

    @inline(never)
    private func appendPiece() -> Bool {
        var piece = spare.exchange(nil, ordering: .acquiring)
        if piece == nil, pieces.load(ordering: .relaxed) < room.mostPieces {
            piece = malloc((room.piece + 1) * Self.stride)
            pieces.wrappingAdd(1, ordering: .relaxed)
        }
        guard let piece else { return false }
        Self.link(piece).initialize(to: nil)
        if let last { Self.link(last).pointee = piece } else { first = piece }
        last = piece
        place = Self.events(piece)
        places = room.piece
        return true
    }

    deinit { if useFile >= 0 { clinux_close(useFile) } }

    /// - Returns: the thread's time in the run queue since its last operation, as an event has it; 0 within an operation.
    func begin(_ operation: UInt64) -> UInt32 {
        let before = use
        use = clinux_own_use(&useFile, &use)
        defer { running.append((operation, use)) }
        return before.switches < 0 || !running.isEmpty ? 0 : Self.queuedTime(from: before, to: use)
    }

    /// The CPU time and the time in the run queue since `begin`, as an event has them, and whether the thread never gave
    /// up its processor; nil if the operation did not begin on this thread.
    func end(_ operation: UInt64) -> (cpu: Int64, queued: UInt32, isUnblocked: Bool)? {
        guard let index = running.lastIndex(where: { $0.id == operation }) else {
            // It has begun elsewhere. What lies here may do the same: forget it before it becomes much.
            if running.count > 64 { running.removeFirst(32) }
            return nil
        }
        use = clinux_own_use(&useFile, &use)
        let before = running[index].use
        running.removeSubrange(index...)
        return (
            use.cpu_ns - before.cpu_ns, Self.queuedTime(from: before, to: use),
            use.voluntary_switches == before.voluntary_switches
        )
    }

    /// In microseconds.
    private static func queuedTime(from before: clinux_thread_use, to now: clinux_thread_use) -> UInt32 {
        guard before.queued_ns >= 0, now.queued_ns >= 0 else { return crecording_unknown }
        return UInt32(clamping: min((now.queued_ns - before.queued_ns) / 1000, Int64(crecording_unknown) - 1))
    }

    func knownNumber(of queue: OperationTrace.QueueID) -> UInt32? {
        guard let lastQueue, lastQueue.queue == queue, lastQueue.generation == writer.queues.generation else {
            return nil
        }
        return lastQueue.number
    }

    func remember(_ queue: OperationTrace.QueueID, _ number: UInt32) {
        lastQueue = (queue, writer.queues.generation, number)
    }

    // MARK: The calling thread's list

    /// The calling thread's events of a recording. Not retained: the thread keeps them until it calls `keep` for others.
    static func ofThread(in session: UInt64) -> Unmanaged<ThreadEvents>? {
        var events = clinux_own_events().map { Unmanaged<ThreadEvents>.fromOpaque($0) }
        while let found = events {
            if found._withUnsafeGuaranteedRef({ $0.session == session }) { break }
            events = found._withUnsafeGuaranteedRef { $0.next.map { .passUnretained($0) } }
        }
        return events
    }

    /// Adds them to the list of the calling thread, to which they belong, and takes out what belongs to recordings that
    /// are over.
    func keep() {
        var list = Self.takeList()
        while let events = list {
            list = events.next
            events.next = nil
            if events.word.load(ordering: .relaxed) & Self.closed == 0 {
                events.next = next
                next = events
            }
        }
        clinux_set_own_events(Unmanaged.passRetained(self).toOpaque())
        clinux_at_thread_end {
            var list = ThreadEvents.takeList()
            while let events = list {
                list = events.next
                events.next = nil
                events.ended.store(true, ordering: .releasing)
            }
        }
    }

    private static func takeList() -> ThreadEvents? {
        defer { clinux_set_own_events(nil) }
        return clinux_own_events().map { Unmanaged.fromOpaque($0).takeRetainedValue() }
    }

    // MARK: The consumer

    /// Hands out all events, and how many were lost since the last call. Returns false if the thread has ended and
    /// nothing will come any more.
    func take(_ use: (UnsafeBufferPointer<crecording_event>, _ lost: Int) -> Void) -> Bool {
        let isLast = ended.load(ordering: .acquiring)
        let published = Int(word.load(ordering: .acquiring) >> 1)
        let allLost = lost.load(ordering: .relaxed)
        var lost = allLost - reportedLost
        if taken == published, lost > 0 { use(UnsafeBufferPointer(start: nil, count: 0), lost) }
        while taken < published {
            let begin = taken % room.piece
            if begin == 0 { readNextPiece() }
            let count = min(published - taken, room.piece - begin)
            use(UnsafeBufferPointer(start: Self.events(reading.unsafelyUnwrapped) + begin, count: count), lost)
            taken += count
            lost = 0
        }
        reportedLost = allLost
        return !isLast
    }

    private func readNextPiece() {
        guard let empty = reading else {
            reading = first
            return
        }
        reading = Self.link(empty).pointee
        if let second = spare.exchange(empty, ordering: .releasing) {
            free(second)
            pieces.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    /// Frees the memory, at once or when the thread has ended what it does: no events are taken any more.
    func close() {
        let before = word.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue
        if before & 1 == 0 { freePieces() }
    }

    // MARK: Pieces

    @inline(never)
    private func freePieces() {
        var rest = reading ?? first
        while let piece = rest {
            rest = Self.link(piece).pointee
            free(piece)
        }
        free(spare.exchange(nil, ordering: .acquiring))
    }

    private static func link(_ piece: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
        piece.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }

    private static func events(_ piece: UnsafeMutableRawPointer) -> UnsafeMutablePointer<crecording_event> {
        (piece + stride).assumingMemoryBound(to: crecording_event.self)
    }
}
