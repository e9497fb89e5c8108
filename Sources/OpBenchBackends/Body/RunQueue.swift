import CLinux
import CLinuxMeasure
import Glibc
import Synchronization

/// How long threads that run operations have no processor, and how much of that they wait in the kernel's run queue.
///
/// The kernel counts a wait when it is over: a running thread's own figure is complete. It takes some 2 µs to read, and
/// is read only if the thread had no processor for a while. Thread-safe, except for `begin`.
package enum RunQueue {
    /// The clocks of the calling thread, in nanoseconds. Differences count.
    struct Reading {
        var time: Int64
        var cpu: Int64
        /// Time in the run queue.
        var queued: Int64
    }

    /// A time in which a thread was in the run queue between two operations.
    package struct Wait: Equatable, Sendable {
        /// The kernel's number of the thread.
        package let thread: Int32
        package let begin: Int64
        package let end: Int64

        package init(thread: Int32, begin: Int64, end: Int64) {
            (self.thread, self.begin, self.end) = (thread, begin, end)
        }
    }

    /// Whether the kernel counts such waits.
    package static let isCounted = clinux_run_queue_ns(0) >= 0

    private static let lock = PlainLock()
    /// Guarded by `lock`.
    nonisolated(unsafe) private static var waits: [Wait] = []
    /// The figures of all threads when the round began. Guarded by `lock`.
    nonisolated(unsafe) private static var atBegin: [Int32: Int64] = [:]
    private static let round = Atomic<UInt32>(0)

    /// Forgets earlier waits. Nothing may run operations meanwhile.
    package static func begin() {
        var threads = [pid_t](repeating: 0, count: 4096)
        let count = clinux_list_threads(-1, &threads, Int32(threads.count))
        lock.whileLocked {
            waits = []
            atBegin = [:]
            for thread in threads.prefix(Int(max(0, count))) { atBegin[thread] = clinux_run_queue_ns(thread) }
        }
        round.add(1, ordering: .relaxed)
    }

    /// The waits since `begin`, in any order; nil if the kernel does not count them.
    package static func end() -> [Wait]? { isCounted ? lock.whileLocked { waits } : nil }

    /// At the beginning of an operation's body.
    static func bodyBegins() -> Reading {
        let own = ownClocks()
        defer { own.pointee.depth += 1 }
        return gapEnds(own)
    }

    /// At its end, on the same thread.
    static func bodyEnds() -> Reading {
        let own = ownClocks()
        own.pointee.depth -= 1
        return read(own, isBegin: false)
    }

    /// When the calling thread has gone to sleep or is awake again, as its library reports.
    static func threadActs() { _ = gapEnds(ownClocks()) }

    private static func ownClocks() -> UnsafeMutablePointer<clinux_thread_clocks> {
        let own = clinux_own_clocks()!
        let now = round.load(ordering: .relaxed)
        if own.pointee.round != now {
            own.pointee.round = now
            own.pointee.queued = lock.whileLocked { atBegin[clinux_gettid()] ?? 0 }
        }
        return own
    }

    /// Keeps the wait since the thread's last reading, if it has been in no body since.
    private static func gapEnds(_ own: UnsafeMutablePointer<clinux_thread_clocks>) -> Reading {
        let before = own.pointee.queued
        let reading = read(own, isBegin: true)
        if own.pointee.depth == 0, reading.queued > before {
            let begin = reading.time - (reading.queued - before)
            let wait = Wait(thread: clinux_gettid(), begin: begin, end: reading.time)
            lock.whileLocked { waits.append(wait) }
        }
        return reading
    }

    /// A shorter time without a processor is the clocks' error.
    private static let leastAway: Int64 = 1000

    private static func read(_ own: UnsafeMutablePointer<clinux_thread_clocks>, isBegin: Bool) -> Reading {
        var (time, cpu) = clocks(isBegin: isBegin)
        if isCounted, time - own.pointee.time - (cpu - own.pointee.cpu) > leastAway {
            own.pointee.queued = max(own.pointee.queued, clinux_run_queue_ns(0))
            // This reading is no part of the body.
            if isBegin { (time, cpu) = clocks(isBegin: true) }
        }
        (own.pointee.time, own.pointee.cpu) = (time, cpu)
        return Reading(time: time, cpu: cpu, queued: own.pointee.queued)
    }

    /// A thread that is away for longer has lost its processor, in nanoseconds.
    private static let longestReading: Int64 = 10_000

    /// The CPU time is read outside of the body, which the reading would lengthen by some hundred nanoseconds. But the
    /// kernel then notices that the thread's time slice is over, and takes the processor: that wait is the body's.
    private static func clocks(isBegin: Bool) -> (time: Int64, cpu: Int64) {
        let before = MonotonicClock.now()
        let cpu = MonotonicClock.threadCPU()
        let after = MonotonicClock.now()
        let isAway = after - before > longestReading
        return (isBegin != isAway ? after : before, cpu)
    }
}
