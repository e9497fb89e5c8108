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
    var isNewborn = true
    /// Whether the worker is among the pool's idle ones. Guarded by the pool's lock.
    var isIdle = false
    /// Whether the worker is inside an engine wait or presumed blocked, so that another one may run in its stead.
    /// Guarded by the pool's lock.
    var isCountedBlocked = false
    /// Set by the monitor with `isCountedBlocked`; the worker looks at it after each piece of work.
    let isPresumedBlocked = Atomic<Bool>(false)
    /// Counts the pieces of work begun. Written by the worker, read by the monitor.
    private let progress = Atomic<UInt64>(0)
    /// The thread's identity for the monitor: written by the thread before it first takes work.
    private let threadID = Atomic<Int32>(0)
    private let cpuClock = Atomic<Int32>(-1)
    /// The monitor's previous sample. Belongs to the monitor.
    var lastSample = Sample(progress: 0, cpuNanoseconds: -1)
    var unchangedSamples = 0

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
        noteProgress()
        block()
        endPresumption()
    }

    // MARK: Blocking

    /// The thread is going to wait for the engine: another worker runs in its stead, until `endWait`.
    func beginWait() {
        endPresumption()
        pool.beginBlocking(self)
    }

    func endWait() { pool.endBlocking(self) }

    /// A piece of work begins.
    @inline(__always)
    func noteProgress() {
        progress.store(progress.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// A piece of work has ended: the worker is not blocked, whatever the monitor took it for.
    @inline(__always)
    func endPresumption() {
        if isPresumedBlocked.load(ordering: .relaxed) { pool.endBlocking(self) }
    }

    /// What the monitor compares: a worker whose samples hardly change is not getting on.
    struct Sample {
        var progress: UInt64
        var cpuNanoseconds: Int64

        /// The same piece of work, and next to no processor time: a thread that polls between short sleeps counts too.
        func isStandstill(since earlier: Sample) -> Bool {
            progress == earlier.progress && cpuNanoseconds >= 0 && cpuNanoseconds - earlier.cpuNanoseconds < 200_000
        }
    }

    /// For the monitor.
    func sample() -> Sample {
        let clock = cpuClock.load(ordering: .acquiring)
        return Sample(
            progress: progress.load(ordering: .relaxed), cpuNanoseconds: clock == -1 ? -1 : clinux_cpu_clock_ns(clock))
    }

    /// Whether the kernel has the thread asleep, rather than waiting for a processor. For the monitor.
    var isAsleep: Bool { ThreadStatus.isAsleep(threadID.load(ordering: .relaxed)) }
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
