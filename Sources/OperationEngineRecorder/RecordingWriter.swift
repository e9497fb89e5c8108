import CLinux
import CRecording
import OperationEngine
import Synchronization

/// The file of a recording, and the thread that writes it.
///
/// The thread alone uses everything but `queues`, `startTime`, the list of rings, and the parker's token. It sleeps for
/// 100 ms at most, until a ring is half full, or until the end.
final class RecordingWriter: @unchecked Sendable {
    let queues = RecordedQueues()
    /// Nanoseconds of CLOCK_MONOTONIC.
    let startTime: Int64
    private let file: RecordingFile
    private let ownerProcess = clinux_getpid()
    /// Called once if the file cannot be written any more.
    private let giveUp: @Sendable () -> Void
    private let lock = FutexLock()
    /// Guarded by `lock`.
    private var rings: [EventRing] = []
    /// Wakes the writer's thread, its owner.
    private let parker = Parker()
    private let isEnding = Atomic<Bool>(false)
    private var thread = clinux_thread()

    private static let longestSleep: Int64 = 100_000_000

    /// Makes the file and starts the thread.
    init(_ path: String, limit: Int, giveUp: @escaping @Sendable () -> Void) throws(TraceRecorder.Failure) {
        startTime = Deadline.now()
        self.giveUp = giveUp
        file = try RecordingFile(path, limit: limit)
        let code = clinux_start_thread(
            &thread,
            { writer in
                Unmanaged<RecordingWriter>.fromOpaque(writer!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            Unmanaged.passUnretained(self).release()
            throw .thread(errno: code)
        }
    }

    // MARK: On any thread

    func add(_ ring: EventRing) { lock.withLock { rings.append(ring) } }

    /// Wakes the thread.
    func call() { parker.unpark() }

    /// Ends the thread after it has written what there is. In a forked child there is none.
    func finish() {
        guard clinux_getpid() == ownerProcess else { return }
        isEnding.store(true, ordering: .releasing)
        call()
        clinux_join_thread(thread)
    }

    // MARK: On the writer's thread

    private func run() {
        clinux_set_own_name("engine recorder")
        // The end of a pipe is an error like others.
        clinux_block_sigpipe()
        while true {
            // Before the last look at the rings.
            let isLast = isEnding.load(ordering: .acquiring)
            writeAll()
            if isLast { break }
            // A call since the last one has left its token, and this returns at once.
            parker.park(timeoutNanoseconds: Self.longestSleep)
        }
        file.end(at: Deadline.now() - startTime)
        lock.withLock { rings = [] }
    }

    private func writeAll() {
        for ring in lock.withLock({ rings }) {
            var events: [crecording_event] = []
            var lost = 0
            let goesOn = ring.take(into: &events, lost: &lost)
            // After the events that need them were taken, so that none is missing.
            for (number, name) in queues.takeNames() { file.add(crecording_named_queue, UInt64(number), name) }
            if !events.isEmpty || lost > 0 { file.write(events, of: ring, lost: lost, queues) }
            if !goesOn { lock.withLock { rings.removeAll { $0 === ring } } }
        }
        if file.hasFailed, !isEnding.exchange(true, ordering: .acquiringAndReleasing) { giveUp() }
    }
}
