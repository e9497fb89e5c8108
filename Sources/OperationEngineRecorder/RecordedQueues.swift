import CRecording
import OperationEngine
import Synchronization

/// The queues of a recording: their numbers in the file, and their settings, which every part of it repeats.
///
/// Everything but `generation` is guarded by `lock`, under which nothing else is locked but a queue's own locks.
final class RecordedQueues: @unchecked Sendable {
    struct Known {
        let number: UInt32
        /// Nil unless it was set.
        var name: String?
        var limit = -1
        var isSuspended = false
        /// Whether the settings are the queue's, or not known yet.
        var isNoted = false

        func limitRecord(at time: Int64) -> crecording_event { record(crecording_limit, at: time, Int64(limit)) }

        func suspensionRecord(at time: Int64) -> crecording_event {
            record(isSuspended ? crecording_suspended : crecording_resumed, at: time, 0)
        }

        private func record(_ kind: crecording_kind, at time: Int64, _ value: Int64) -> crecording_event {
            crecording_event(
                time: time, subject: 0, value: value, detail: number, kind: UInt8(truncatingIfNeeded: kind.rawValue),
                flags: 0, priority: 0, reserved: 0)
        }
    }

    private let lock = FutexLock()
    private var known: [OperationTrace.QueueID: Known] = [:]
    private var lastNumber: UInt32 = 0
    /// The numbers of queues whose names are not in the file yet.
    private var unnamed: [(number: UInt32, name: String)] = []
    private let generations = Atomic<Int>(0)

    /// Goes up with each queue that is made, since it may have the identity of one that is gone. Relaxed: a thread that
    /// adds to the new queue comes after its making.
    var generation: Int { generations.load(ordering: .relaxed) }

    /// A queue that is being made.
    func add(_ queue: OperationQueue) {
        lock.withLock {
            known[.init(queue)] = nil
            _ = lockedEntry(of: .init(queue))
            known[.init(queue)]?.isNoted = true
        }
        generations.wrappingAdd(1, ordering: .relaxed)
    }

    /// A queue that may be gone; a new one gets a number.
    func entry(of queue: OperationTrace.QueueID) -> Known { lock.withLock { lockedEntry(of: queue) } }

    /// Takes over the settings of a queue that is alive.
    @discardableResult
    func note(_ queue: OperationQueue, isSuspended: Bool? = nil) -> Known {
        let settings = queue.settingsForTrace
        return lock.withLock {
            var entry = lockedEntry(of: .init(queue))
            if let name = settings.name, name != entry.name { unnamed.append((entry.number, name)) }
            (entry.name, entry.limit, entry.isNoted) = (settings.name, settings.limit, true)
            entry.isSuspended = isSuspended ?? settings.isSuspended
            known[.init(queue)] = entry
            return entry
        }
    }

    /// Under the lock.
    private func lockedEntry(of queue: OperationTrace.QueueID) -> Known {
        if let known = known[queue] { return known }
        lastNumber &+= 1
        let entry = Known(number: lastNumber)
        known[queue] = entry
        return entry
    }

    /// The names that came since the last call.
    func takeNames() -> [(number: UInt32, name: String)] {
        lock.withLock {
            defer { unnamed = [] }
            return unnamed
        }
    }

    var all: [Known] { lock.withLock { Array(known.values) } }

    func forget() { lock.withLock { (known, unnamed) = ([:], []) } }
}
