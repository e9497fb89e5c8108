import CLinux
import CRecording
import OperationEngine
import Synchronization

/// The events of one thread on their way to the writer: a ring with one producer, its thread, and one consumer, the
/// writer's thread.
///
/// **Argument.** The slots from `taken` to `written` belong to the consumer, the others to the producer. The producer
/// alone stores `written`, releasing, after it has filled the slot; the consumer loads it acquiring, so it reads whole
/// events. The consumer alone stores `taken`, releasing, after it has copied the slots; the producer loads it acquiring
/// before it fills one again. So no slot is written while it is read, and neither waits for the other. A full ring loses
/// the event, and counts it.
final class EventRing: @unchecked Sendable {
    let thread = clinux_own_thread()
    let name: String
    /// The recording that it belongs to.
    let session: UInt64
    let writer: RecordingWriter
    private let capacity: Int
    private let slots: UnsafeMutablePointer<crecording_event>
    private let written = Atomic<Int>(0)
    private let taken = Atomic<Int>(0)
    /// Counted by the producer.
    private let lost = Atomic<Int>(0)
    /// Set by the thread when it ends, after its last event. Releasing: a consumer that sees it finds all events.
    private let ended = Atomic<Bool>(false)

    // The producer's alone.
    /// Operations that have started on this thread and not ended: several, if one starts another by hand.
    private var running: [(id: UInt64, use: clinux_thread_use)] = []
    private var lastQueue: (queue: OperationTrace.QueueID, generation: Int, number: UInt32)?

    /// The consumer's alone: how many of `lost` are in the file.
    private var reportedLost = 0

    /// For the calling thread.
    init(capacity: Int, session: UInt64, writer: RecordingWriter) {
        self.capacity = capacity
        self.session = session
        self.writer = writer
        slots = .allocate(capacity: capacity)
        name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { text in
            clinux_own_name(text.baseAddress!)
            return String(cString: text.baseAddress!)
        }
    }

    deinit { slots.deallocate() }

    // MARK: The producer

    func time(_ time: Int64) -> Int64 { time - writer.startTime }

    func record(_ kind: crecording_kind, _ subject: UInt64, at time: Int64) -> crecording_event {
        crecording_event(
            time: self.time(time), subject: subject, value: 0, detail: 0,
            kind: UInt8(truncatingIfNeeded: kind.rawValue),
            flags: 0, priority: 0, reserved: 0)
    }

    func append(_ event: crecording_event) {
        let place = written.load(ordering: .relaxed)
        let count = place - taken.load(ordering: .acquiring)
        if count == capacity {
            lost.wrappingAdd(1, ordering: .relaxed)
            return
        }
        (slots + (place & (capacity - 1))).initialize(to: event)
        written.store(place + 1, ordering: .releasing)
        if count + 1 == capacity / 2 { writer.call() }
    }

    func begin(_ operation: UInt64) { running.append((operation, clinux_own_use())) }

    /// The use of the thread since `begin`; nil if it was not on this thread.
    func end(_ operation: UInt64) -> clinux_thread_use? {
        guard let index = running.lastIndex(where: { $0.id == operation }) else {
            // It has begun elsewhere. What lies here may do the same: forget it before it becomes much.
            if running.count > 64 { running.removeFirst(32) }
            return nil
        }
        let (before, now) = (running[index].use, clinux_own_use())
        running.removeSubrange(index...)
        return clinux_thread_use(
            cpu_ns: now.cpu_ns - before.cpu_ns, voluntary_switches: now.voluntary_switches - before.voluntary_switches)
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

    func end() { ended.store(true, ordering: .releasing) }

    // MARK: The consumer

    /// Takes all events, and the number of lost ones since the last call. Returns false if the thread has ended and
    /// nothing will come any more.
    func take(into events: inout [crecording_event], lost: inout Int) -> Bool {
        let isLast = ended.load(ordering: .acquiring)
        let (from, to) = (taken.load(ordering: .relaxed), written.load(ordering: .acquiring))
        let first = from & (capacity - 1)
        let straight = min(to - from, capacity - first)
        events.append(contentsOf: UnsafeBufferPointer(start: slots + first, count: straight))
        events.append(contentsOf: UnsafeBufferPointer(start: slots, count: to - from - straight))
        taken.store(to, ordering: .releasing)
        let all = self.lost.load(ordering: .relaxed)
        (lost, reportedLost) = (all - reportedLost, all)
        return !isLast
    }
}
