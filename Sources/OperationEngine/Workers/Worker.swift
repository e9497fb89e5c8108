import CLinux
import Synchronization

/// One thread of a pool: it takes work items until the pool sends it away.
///
/// All fields without a comment belong to the worker's own thread.
final class Worker: @unchecked Sendable {
    let pool: WorkerPool
    /// Whether it keeps the main thread's nice value, so its thread may become a worker of any other pool. Made if the
    /// system refuses a thread for a pool that has none. It ends when its pool has another worker, or when it has been
    /// idle.
    let isSubstitute: Bool
    /// Among the workers of its pool, for its thread's name. Those of workers that have ended are given out again.
    let number: Int
    let parker = Parker()
    /// The number of the thread that called it from its sleep, while threads are traced; 0 if none. Written before the
    /// token that it belongs to.
    let waker = Atomic<Int32>(0)

    /// True until it has taken its first item, which it takes however many workers run by now. Guarded by the pool's
    /// lock.
    @exclusivity(unchecked) var isNewborn = true
    /// Whether the worker is among the pool's idle ones. Guarded by the pool's lock.
    @exclusivity(unchecked) var isIdle = false
    /// Whether it comes for follow-ups by itself. Guarded by the pool's lock.
    @exclusivity(unchecked) var isHeld = false
    /// Whether the worker is inside an engine wait or presumed blocked. Another one may run in its place then. Guarded
    /// by the pool's lock.
    @exclusivity(unchecked) var isCountedBlocked = false
    /// Set by the monitor with `isCountedBlocked`; the worker looks at it after each piece of work.
    let isPresumedBlocked = Atomic<Bool>(false)
    /// Whether the pool has removed it. Guarded by the pool's lock.
    @exclusivity(unchecked) var hasEnded = false
    /// The worker that its thread becomes when the pool has removed it. Written by the removing thread before it wakes
    /// this one.
    @exclusivity(unchecked) var successor: Worker?
    /// Whether it took its part of the pool's surge along when it was presumed blocked. Guarded by the pool's lock.
    @exclusivity(unchecked) var isOfSurge = false
    /// The object of an engine wait without a deadline, and the worker's runner during the wait. Guarded by the pool's
    /// lock.
    @exclusivity(unchecked) var awaited: Awaited?
    @exclusivity(unchecked) var waitingRunner: Unmanaged<Runner>?
    /// The thread's number and its clock of processor time, for the monitor. The thread writes them before it first
    /// takes work, the clock last and releasing. The monitor reads the clock first, acquiring, and ignores a worker
    /// without one.
    private let threadID = Atomic<Int32>(0)
    private let cpuClock = Atomic<Int32>(-1)
    /// Odd while the thread sleeps inside the engine: on one of its locks, in its pool, or in a wait that the pool has
    /// counted. Only the thread writes it. It adds one before it asks the kernel to sleep, and one after.
    ///
    /// Relaxed. The first step is stored before the system call, and the kernel puts the thread to sleep only after a
    /// full barrier. The monitor reads the mark before it asks the kernel for the thread's state, and again after that.
    /// So a sleep between two equal, even readings began outside the engine. The exception is a sleep of the engine
    /// that began or ended just then. Such a mistake matters only in two consecutive looks.
    private let sleepMark = Atomic<UInt32>(0)
    /// The monitor's observations of the thread. Only the monitor uses it.
    @exclusivity(unchecked) var seen = ThreadWatch.Record()

    init(pool: WorkerPool, number: Int, isSubstitute: Bool) {
        self.pool = pool
        self.number = number
        self.isSubstitute = isSubstitute
    }

    /// Whether its thread has another nice value than the main thread.
    var isLowered: Bool { !isSubstitute && pool.band != .normal }

    // MARK: The thread

    /// Whether it works, or blocks without having been counted as blocked. Under the pool's lock.
    var isRunning: Bool { !isIdle && !isCountedBlocked && !hasEnded }

    /// Starts the thread. 0, or an errno value if the system has none to give.
    func start() -> Int32 {
        let argument = Unmanaged.passRetained(self)
        let failure = clinux_start_thread(
            nil,
            { argument in
                Unmanaged<Worker>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        if failure != 0 { argument.release() }
        return failure
    }

    /// Works, and then becomes the successor, and so on, until there is none.
    func run() {
        var worker: Worker? = self
        while let current = worker {
            current.work()
            worker = current.successor
        }
    }

    private func work() {
        pool.band.nameOwnThread(number)
        withSleepMark { clinux_set_sleep_mark($0) }
        defer { clinux_set_sleep_mark(nil) }
        threadID.store(clinux_gettid(), ordering: .relaxed)
        cpuClock.store(clinux_own_cpu_clock(), ordering: .releasing)
        if !isSubstitute, clinux_thread_nice(0) != pool.band.nice { _ = clinux_set_own_nice(pool.band.nice) }
        if TraceMarks.threads { trace(.begin) }
        defer { if TraceMarks.threads { trace(.end) } }
        let runner = Runner(of: self)
        runner.occupyThread {
            while let item = pool.take(for: self) {
                switch item {
                case .lease(let queue): runner.takeUp(queue)
                case .block(let block): call(block)
                case .completion(let operation, let block): withExtendedLifetime(operation) { call(block) }
                }
            }
        }
    }

    func call(_ block: @Sendable () -> Void) {
        block()
        endPresumption()
    }

    // MARK: Sleeping

    /// Wakes the thread, which is parked or about to park. With no lock held.
    func unpark() {
        let isTraced = TraceMarks.threads
        // Relaxed: the token orders it.
        if isTraced { waker.store(clinux_own_thread(), ordering: .relaxed) }
        // Before the call, in which the woken thread may get further than this one.
        let time = isTraced ? Deadline.now() : 0
        parker.unpark()
        if isTraced { trace(.wake, at: time, other: thread?.number) }
    }

    /// Sleeps until another thread wakes it. Returns false on timeout.
    func park(timeoutNanoseconds: Int64) -> Bool {
        let isTraced = TraceMarks.threads
        if isTraced { trace(.park) }
        let isCalled = parker.park(timeoutNanoseconds: timeoutNanoseconds)
        if isTraced {
            let waker = isCalled ? waker.exchange(0, ordering: .relaxed) : 0
            trace(.unpark, other: waker == 0 ? nil : waker)
        }
        return isCalled
    }

    // MARK: Blocking

    /// The thread is going to wait inside the engine. Another worker may run in its place until `endWait`.
    func beginWait(of runner: Runner, for awaited: Awaited?) {
        endPresumption()
        pool.beginBlocking(self, runner, awaited)
    }

    func endWait() { pool.endBlocking(self) }

    /// A piece of work has ended. So the worker is not blocked, whatever the monitor presumed.
    @inline(__always)
    func endPresumption() {
        if isPresumedBlocked.load(ordering: .relaxed) { pool.endBlocking(self) }
    }

    private func withSleepMark(_ body: (UnsafeMutablePointer<UInt32>) -> Void) {
        withUnsafePointer(to: sleepMark) { address in
            // An `Atomic` never moves: see `Futex`.
            let word = UnsafeMutableRawPointer(mutating: address)
            body(word.assumingMemoryBound(to: UInt32.self))
        }
    }

    // MARK: The monitor's looks, on its thread

    /// The thread, once it is there.
    var thread: (number: Int32, cpuClock: Int32)? {
        let clock = cpuClock.load(ordering: .acquiring)
        return clock == -1 ? nil : (threadID.load(ordering: .relaxed), clock)
    }

    /// Returns the result of `isAsleep`, or false if the thread sleeps inside the engine.
    func isOutsideEngine<Failure>(_ isAsleep: () throws(Failure) -> Bool) throws(Failure) -> Bool {
        let before = sleepMark.load(ordering: .relaxed)
        if before & 1 == 1 { return false }
        let isAsleep = try isAsleep()
        return isAsleep && sleepMark.load(ordering: .relaxed) == before
    }
}

/// The object for which a thread waits in an engine wait without a deadline.
enum Awaited {
    case operation(Unmanaged<Operation>)
    case queue(Unmanaged<QueueCore>)
    /// Blocks of a `BlockOperation` that workers run.
    case blocks
}
