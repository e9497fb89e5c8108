import CLinux
import CRecording
import OperationEngine
import Synchronization

/// The file of a recording, and the thread that writes it.
///
/// The thread alone uses everything but `queues`, `startTime`, the list of threads' events, and the parker's token. It
/// sleeps for 100 ms at most, until a thread has filled a piece of memory, or until the end.
final class RecordingWriter: @unchecked Sendable {
    let queues = RecordedQueues()
    /// Nanoseconds of CLOCK_MONOTONIC.
    let startTime: Int64
    private let file: RecordingFile
    private let ownerProcess = clinux_getpid()
    /// Called once if the file cannot be written any more.
    private let giveUp: @Sendable () -> Void
    private let lock = FutexLock()
    /// The events of all threads. Guarded by `lock`.
    private var events: [ThreadEvents] = []
    /// Whether nothing is written any more. Guarded by `lock`.
    private var isOver = false
    /// Wakes the writer's thread, its owner.
    private let parker = Parker()
    private let isEnding = Atomic<Bool>(false)
    private var thread = clinux_thread()

    private static let longestSleep: Int64 = 100_000_000

    /// Makes the file and starts the thread.
    init(_ path: String, limit: Int, giveUp: @escaping @Sendable () -> Void) throws(TraceRecorder.Failure) {
        startTime = Deadline.now()
        self.giveUp = giveUp
        file = try RecordingFile(path, limit: limit, startTime: startTime)
        let code = clinux_start_thread(
            &thread,
            { writer in
                Unmanaged<RecordingWriter>.fromOpaque(writer!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard code == 0 else {
            file.close()
            Unmanaged.passUnretained(self).release()
            throw .thread(errno: code)
        }
    }

    // MARK: On any thread

    /// Returns false if the recording is over.
    func add(_ new: ThreadEvents) -> Bool {
        lock.withLock {
            if !isOver { events.append(new) }
            return !isOver
        }
    }

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
            // Before the last look at the events.
            let isLast = isEnding.load(ordering: .acquiring)
            writeAll()
            if isLast { break }
            // A call since the last one has left its token, and this returns at once.
            parker.park(timeoutNanoseconds: Self.longestSleep)
        }
        file.end(at: Deadline.now() - startTime)
        // Threads that live on may refer to their events, and by these to the writer: what takes memory goes now.
        let all = lock.withLock {
            isOver = true
            defer { events = [] }
            return events
        }
        for events in all { events.close() }
        queues.forget()
    }

    private func writeAll() {
        for events in lock.withLock({ events }) {
            let goesOn = events.take { list, lost in
                // After the events that need them were published, so that none is missing.
                for (number, name) in queues.takeNames() { file.add(crecording_named_queue, UInt64(number), name) }
                file.write(list, of: events, lost: lost, queues)
            }
            if !goesOn {
                events.close()
                lock.withLock { self.events.removeAll { $0 === events } }
            }
        }
        if file.hasFailed, !isEnding.exchange(true, ordering: .acquiringAndReleasing) { giveUp() }
    }
}
