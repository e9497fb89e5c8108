import CLinux
import Glibc

/// What the monitor sees of the process's threads: which workers are blocked.
///
/// **Asleep** is a worker that the kernel has asleep in two looks in a row, with next to no processor time in between,
/// and not inside of the engine (`Worker.sleepMark`).
///
/// **Blocked** is a worker that is asleep, unless it may be so for the sake of a thread of this process that could go on,
/// and waits for a processor. That is what those are suspected of that sleep for a lock: one of malloc, of the language's
/// runtime or of the program, or the kernel's for the process's memory. Its holder may be any thread. So while any thread
/// of the process is runnable, who sleeps for a lock is not blocked; nor would another worker get a processor sooner than
/// that thread. After a tenth of a second it counts as blocked all the same: the runnable thread may have nothing to do
/// with it.
///
/// **Blind** is the watch where /proc does not say. Then a worker that has used next to no processor time in ten looks
/// counts as blocked, one in five looks: a thread that waits for a processor uses none either.
///
/// All fields belong to the monitor's thread.
struct ThreadWatch {
    enum Verdict {
        case awake
        /// It sleeps in somebody else's wait: what waits for a worker will do so, too.
        case blocked
        /// It seems to.
        case perhapsBlocked
    }

    /// Of one worker.
    struct Record {
        fileprivate var cpuNanoseconds: Int64 = 0
        /// Looks in a row that found it asleep: the first and the last.
        fileprivate var firstLook = 0
        fileprivate var lastLook = 0
    }

    /// Processor time in a millisecond up to which a thread that polls between short sleeps counts as asleep.
    private static let dozingNanoseconds: Int64 = 200_000
    private static let longestLockLooks = 100
    private static let blindLooks = 10
    private static let looksBetweenBlindVerdicts = 5
    private static let looksBetweenTries = 100
    /// Of a process with more threads some are not looked at.
    private static let mostThreads = 4096

    /// /proc/self/task, or negative: then each look finds its own way there.
    private var folder: Int32 = -1
    private let ownThread = clinux_gettid()
    /// Why /proc does not say how threads are, errno; 0 if it does.
    private(set) var blindness: Int32 = 0
    private let mayRecover: Bool
    /// Whether it mattered.
    private(set) var hasJudgedBlindly = false
    private var nextBlindVerdict = 0
    /// Counts up, by two where the monitor has slept in between, or had nothing to look at: two looks in a row are a
    /// millisecond apart.
    private var look = 1
    private let threads = UnsafeMutableBufferPointer<pid_t>.allocate(capacity: mostThreads)

    /// On the monitor's own thread, which must not make threads: it gets a table of file descriptors of its own, in which
    /// there is always one free, and which nobody else closes.
    init() {
        let hasOwnFiles = clinux_leave_shared_files() == 0
        let opened = clinux_open_own_threads()
        mayRecover = opened >= 0
        blindness = max(0, -opened)
        if hasOwnFiles {
            folder = opened
        } else if opened >= 0 {
            // Anybody may close what stays open in the process's table, and have it stand for another file.
            close(opened)
        }
    }

    private var isBlind: Bool { blindness != 0 }

    mutating func beginLook(afterSleep: Bool) {
        look += afterSleep ? 2 : 1
        // A descriptor may be free again.
        if isBlind, mayRecover, look % Self.looksBetweenTries == 0, clinux_thread_state(folder, ownThread) > 0 {
            blindness = 0
        }
    }

    /// Judges workers that are not known to sleep; each once a look.
    mutating func judge(_ workers: [Worker]) -> [Verdict] {
        var verdicts = workers.map { isStill($0) && note($0) > 0 ? Verdict.blocked : .awake }
        if isBlind { return workers.map { blindVerdict(on: $0) } }
        guard verdicts.contains(.blocked) else { return verdicts }
        var isAnyRunnable: Bool?
        for (index, worker) in workers.enumerated() where verdicts[index] == .blocked {
            var sleep = sleep(of: worker)
            if sleep == clinux_asleep_for_lock {
                let hasRunnable = isAnyRunnable ?? isAnyThreadRunnable()
                isAnyRunnable = hasRunnable
                if hasRunnable {
                    let isLong = look - worker.seen.firstLook >= Self.longestLockLooks
                    verdicts[index] = isLong ? .perhapsBlocked : .awake
                    continue
                }
                // It may have been woken, and may have run, while the others were looked at.
                sleep = self.sleep(of: worker)
            }
            if sleep == clinux_awake { verdicts[index] = .awake }
        }
        return verdicts
    }

    // MARK: Workers

    /// Whether a worker sleeps and has used next to no processor time since the look before.
    private mutating func isStill(_ worker: Worker) -> Bool {
        guard let thread = worker.thread else { return false }
        let used = clinux_cpu_clock_ns(thread.cpuClock)
        defer { worker.seen.cpuNanoseconds = used }
        guard used >= 0, used - worker.seen.cpuNanoseconds < Self.dozingNanoseconds else { return false }
        return worker.isOutsideEngine { isBlind || isAsleep(state(of: thread.number)) }
    }

    /// Notes that a worker was found asleep. For how many looks before this one it was so, too.
    private func note(_ worker: Worker) -> Int {
        if worker.seen.lastLook != look - 1 { worker.seen.firstLook = look }
        worker.seen.lastLook = look
        return look - worker.seen.firstLook
    }

    /// What a worker sleeps for, if it has not run since it was found asleep in this look.
    private mutating func sleep(of worker: Worker) -> clinux_sleep {
        guard let thread = worker.thread else { return clinux_awake }
        var sleep = clinux_awake
        let isOutside = worker.isOutsideEngine {
            let said = clinux_thread_sleep(folder, thread.number)
            if said >= 0 {
                sleep = clinux_sleep(UInt32(said))
            } else if isAsleep(state(of: thread.number)) {
                // Not everywhere is one told.
                sleep = clinux_asleep_for_lock
            }
            return sleep != clinux_awake
        }
        return isOutside && clinux_cpu_clock_ns(thread.cpuClock) == worker.seen.cpuNanoseconds ? sleep : clinux_awake
    }

    private mutating func blindVerdict(on worker: Worker) -> Verdict {
        guard worker.seen.lastLook == look, look - worker.seen.firstLook >= Self.blindLooks, look >= nextBlindVerdict
        else { return .awake }
        nextBlindVerdict = look + Self.looksBetweenBlindVerdicts
        hasJudgedBlindly = true
        return .perhapsBlocked
    }

    // MARK: All threads

    /// Whether a thread of the process runs or waits for a processor, this one apart.
    private mutating func isAnyThreadRunnable() -> Bool {
        let count = clinux_list_threads(folder, threads.baseAddress, Int32(threads.count))
        for thread in threads.prefix(Int(max(0, count))) where thread != ownThread {
            if state(of: thread) == Int32(UInt8(ascii: "R")) { return true }
        }
        return false
    }

    private func isAsleep(_ state: Int32) -> Bool {
        state == Int32(UInt8(ascii: "S")) || state == Int32(UInt8(ascii: "D"))
    }

    /// The letter for a thread's state, or a negative value.
    private mutating func state(of thread: pid_t) -> Int32 {
        let state = clinux_thread_state(folder, thread)
        // It has ended, unless not even this thread is to be seen.
        if state < 0, clinux_thread_state(folder, ownThread) < 0 { blindness = -state }
        return state
    }
}
