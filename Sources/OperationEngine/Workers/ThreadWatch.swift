import CLinux

/// The monitor's view of the process's threads: which workers are blocked.
///
/// A worker is **asleep** if the kernel says so in two looks in a row, it used next to no processor time in between,
/// and it does not sleep inside the engine (`Worker.sleepMark`).
///
/// A worker that is asleep is **blocked**, unless it sleeps for a lock whose holder may be runnable. The lock may be
/// one of malloc, of the language's runtime or of the program, or the kernel's lock of the process's memory. Any thread
/// may hold it. So a worker that sleeps for a lock is not blocked while any thread of the process is runnable; another
/// worker would get no processor sooner than that thread. After a tenth of a second it counts as blocked all the same,
/// because the runnable thread may have nothing to do with the lock.
///
/// The watch is **blind** if /proc cannot be read. Then a worker counts as blocked if it has used next to no processor
/// time in ten looks, and at most one worker does so in five looks. It is that cautious because a thread that waits for
/// a processor uses no processor time either.
///
/// All fields belong to the monitor's thread.
struct ThreadWatch {
    enum Verdict {
        case awake
        /// It sleeps outside the engine. The waiting items will probably block in the same way.
        case blocked
        /// It may be blocked; see `ThreadWatch` for locks and for a blind watch.
        case perhapsBlocked
    }

    /// The observations of one worker.
    struct Record {
        fileprivate var cpuNanoseconds: Int64 = 0
        /// The first and the last of the consecutive looks that found it asleep.
        fileprivate var firstLook = 0
        fileprivate var lastLook = 0
    }

    /// A thread that polls between short sleeps counts as asleep if it uses less processor time in a millisecond.
    private static let dozingNanoseconds: Int64 = 200_000
    private static let longestLockLooks = 100
    private static let blindLooks = 10
    private static let looksBetweenBlindVerdicts = 5
    private static let looksBetweenTries = 100
    /// In a process with more threads, some are not looked at.
    private static let mostThreads = 4096

    /// A descriptor of /proc/self/task. If negative, each look opens the folder itself.
    private var folder: Int32 = -1
    private let ownThread = clinux_gettid()
    /// Why /proc cannot be read, an errno value; 0 if it can.
    private(set) var blindness: Int32 = 0
    private let mayRecover: Bool
    /// Whether a worker was judged while the watch was blind.
    private(set) var hasJudgedBlindly = false
    private var nextBlindVerdict = 0
    /// The number of the look. Two consecutive looks are a millisecond apart. So the number rises by two if the monitor
    /// has slept in between, or had nothing to look at.
    private var look = 1
    private let threads = UnsafeMutableBufferPointer<pid_t>.allocate(capacity: mostThreads)

    /// Called on the monitor's own thread, which must not make threads, because it gets a table of file descriptors of
    /// its own. That table always has a free descriptor, and no other thread closes one in it.
    init() {
        let hasOwnFiles = clinux_leave_shared_files() == 0
        let opened = clinux_open_own_threads()
        mayRecover = opened >= 0
        blindness = max(0, -opened)
        if hasOwnFiles {
            folder = opened
        } else if opened >= 0 {
            // Any thread may close a descriptor in the process's table, and reuse its number for another file.
            clinux_close(opened)
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

    /// Judges workers that are not known to sleep. Each worker is judged once a look.
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
                // It may have woken and run while the other threads were looked at.
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

    /// Notes that a worker was found asleep. Returns how many consecutive looks before this one found it asleep, too.
    private func note(_ worker: Worker) -> Int {
        if worker.seen.lastLook != look - 1 { worker.seen.firstLook = look }
        worker.seen.lastLook = look
        return look - worker.seen.firstLook
    }

    /// The reason why a worker sleeps, if it has not run since it was found asleep in this look.
    private mutating func sleep(of worker: Worker) -> clinux_sleep {
        guard let thread = worker.thread else { return clinux_awake }
        var sleep = clinux_awake
        let isOutside = worker.isOutsideEngine {
            let said = clinux_thread_sleep(folder, thread.number)
            if said >= 0 {
                sleep = clinux_sleep(UInt32(said))
            } else if isAsleep(state(of: thread.number)) {
                // The system may hide what a thread sleeps for.
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

    /// Whether a thread of the process, other than this one, runs or waits for a processor.
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
        // The thread has ended, unless even this thread cannot be seen.
        if state < 0, clinux_thread_state(folder, ownThread) < 0 { blindness = -state }
        return state
    }
}
