import CLinux
import Glibc
import Synchronization

/// One thread of a pool: it takes work items until the pool sends it away.
///
/// All fields without a comment belong to the worker's own thread.
final class Worker: @unchecked Sendable {
    let pool: WorkerPool
    let parker = Parker()

    /// Until it has taken its first item: it was called for, however many run by now. Guarded by the pool's lock.
    @exclusivity(unchecked) var isNewborn = true
    /// Whether the worker is among the pool's idle ones. Guarded by the pool's lock.
    @exclusivity(unchecked) var isIdle = false
    /// Whether the worker is inside an engine wait or presumed blocked, so that another one may run in its stead.
    /// Guarded by the pool's lock.
    @exclusivity(unchecked) var isCountedBlocked = false
    /// Set by the monitor with `isCountedBlocked`; the worker looks at it after each piece of work.
    let isPresumedBlocked = Atomic<Bool>(false)
    /// Whether it has taken a worker of the pool's surge along when it was presumed blocked. Guarded by the pool's lock.
    @exclusivity(unchecked) var isOfSurge = false
    /// What the worker waits for, if it is inside an engine wait without a deadline, and its runner then. Guarded by the
    /// pool's lock.
    @exclusivity(unchecked) var awaited: Awaited?
    @exclusivity(unchecked) var waitingRunner: Unmanaged<Runner>?
    /// The thread's identity for the monitor: written by the thread before it first takes work.
    private let threadID = Atomic<Int32>(0)
    private let cpuClock = Atomic<Int32>(-1)
    /// What the monitor's look before saw. Guarded by the pool's lock.
    @exclusivity(unchecked) private var lastCPUNanoseconds: Int64 = 0
    @exclusivity(unchecked) private var wasAsleep = false

    init(pool: WorkerPool) { self.pool = pool }

    // MARK: The thread

    /// Starts the thread; false if the system has none to give.
    func start() -> Bool {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let argument = Unmanaged.passRetained(self)
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                Unmanaged<Worker>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        if failure != 0 { argument.release() }
        return failure == 0
    }

    private func run() {
        clinux_set_own_name("OperationEngine")
        threadID.store(clinux_gettid(), ordering: .relaxed)
        cpuClock.store(clinux_own_cpu_clock(), ordering: .releasing)
        if clinux_thread_nice(0) != pool.band.nice { _ = clinux_set_own_nice(pool.band.nice) }
        let runner = Runner(of: self)
        runner.occupyThread {
            while let item = pool.take(for: self) {
                switch item {
                case .lease(let queue): runner.takeUp(queue)
                case .block(let block): call(block)
                }
            }
        }
    }

    func call(_ block: @Sendable () -> Void) {
        block()
        endPresumption()
    }

    // MARK: Blocking

    /// The thread is going to wait for the engine: another worker runs in its stead, until `endWait`.
    func beginWait(of runner: Runner, for awaited: Awaited?) {
        endPresumption()
        pool.beginBlocking(self, runner, awaited)
    }

    func endWait() { pool.endBlocking(self) }

    /// A piece of work has ended: the worker is not blocked, whatever the monitor took it for.
    @inline(__always)
    func endPresumption() {
        if isPresumedBlocked.load(ordering: .relaxed) { pool.endBlocking(self) }
    }

    // MARK: The monitor's looks, under the pool's lock

    /// Processor time in a millisecond up to which a thread that polls between short sleeps counts as asleep.
    private static let dozingNanoseconds: Int64 = 200_000

    /// Once a look: whether the thread sleeps, slept at the look before, and used next to no processor time in between.
    /// In one piece of work or in several: a thread that sleeps in each for a moment does not get on either.
    func hasSleptForTwoLooks() -> Bool {
        let clock = cpuClock.load(ordering: .acquiring)
        guard clock != -1 else { return false }
        let used = clinux_cpu_clock_ns(clock)
        let isDozing = used >= 0 && used - lastCPUNanoseconds < Self.dozingNanoseconds && isAsleep
        defer { wasAsleep = isDozing }
        lastCPUNanoseconds = used
        return isDozing && wasAsleep
    }

    /// The worker sleeps for lack of work: what was seen before does not count.
    func forgetLook() { wasAsleep = false }

    /// Whether the kernel has the thread asleep, rather than waiting for a processor.
    private var isAsleep: Bool { ThreadStatus.isAsleep(threadID.load(ordering: .relaxed)) }
}

/// What /proc says of a thread, proc_pid_stat(5).
enum ThreadStatus {
    static func isAsleep(_ thread: Int32) -> Bool {
        let file = open("/proc/self/task/\(thread)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let length = read(file, &text, text.count)
        // The state follows the name, which stands in parentheses and may hold any character.
        guard length > 0, let end = text[..<length].lastIndex(of: UInt8(ascii: ")")), end + 2 < length else {
            return false
        }
        return text[end + 2] == UInt8(ascii: "S") || text[end + 2] == UInt8(ascii: "D")
    }
}
