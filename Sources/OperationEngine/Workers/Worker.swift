import CLinux
import Glibc
import Synchronization

/// One thread of a pool: it takes work items until the pool sends it away.
///
/// All fields without a comment belong to the worker's own thread.
final class Worker: @unchecked Sendable {
    let pool: WorkerPool
    let parker = Parker()

    /// The operation that the worker runs for a queue, and that queue.
    @exclusivity(unchecked) private var operation: Unmanaged<Operation>?
    @exclusivity(unchecked) private(set) var queue: QueueCore?
    /// What a finishing operation has made ready in `queue`: in the phase `filing`, which keeps it alive, until the
    /// worker advances the queue.
    @exclusivity(unchecked) private var readied: [Unmanaged<Operation>] = []
    /// Left by a finishing operation, to be called once its slot is free (contract I7).
    @exclusivity(unchecked) var completionBlock: (@Sendable () -> Void)?
    /// Operations that the worker may still take from a queue while other queues wait for a worker.
    @exclusivity(unchecked) private var quantum = 0
    private static let fullQuantum = 16

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

    /// The worker that the calling thread is.
    static var current: Worker? {
        clinux_current_worker().map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
    }

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
        clinux_set_current_worker(Unmanaged.passUnretained(self).toOpaque())
        clinux_set_own_name("OperationEngine")
        threadID.store(clinux_gettid(), ordering: .relaxed)
        cpuClock.store(clinux_own_cpu_clock(), ordering: .releasing)
        if clinux_thread_nice(0) != pool.band.nice { _ = clinux_set_own_nice(pool.band.nice) }
        while let item = pool.take(for: self) {
            switch item {
            case .lease(let queue): serve(queue)
            case .block(let block): call(block)
            }
        }
        clinux_set_current_worker(nil)
    }

    /// Runs operations of one queue until nothing is left that may start, or others are due.
    private func serve(_ queue: QueueCore) {
        let band = pool.band
        queue.takeUpLease(band)
        self.queue = queue
        quantum = Self.fullQuantum
        var next = queue.advance(band, retiring: nil, mayGoOn: true)
        while let chosen = next {
            if !run(chosen, of: queue) {
                next = queue.advance(band, retiring: nil, mayGoOn: mayGoOn(with: queue))
            } else if let block = completionBlock.take() {
                // Slot, lease and place in the queue are given up first: the block may wait for the queue's next
                // operation, or for the whole queue (contract I7).
                _ = queue.advance(band, retiring: chosen, filing: readied, mayGoOn: false)
                readied.removeAll(keepingCapacity: true)
                queue.leave(chosen)
                self.queue = nil
                callAtNormalPriority(block)
                self.queue = queue
                next = mayGoOn(with: queue) ? queue.advance(band, retiring: nil, mayGoOn: true) : nil
            } else {
                next = queue.advance(band, retiring: chosen, filing: readied, mayGoOn: mayGoOn(with: queue))
                if !readied.isEmpty { readied.removeAll(keepingCapacity: true) }
                queue.leave(chosen)
            }
        }
        self.queue = nil
    }

    /// Starts a chosen operation, which the queue keeps alive. True if it is finished; false if it was given back
    /// because its overridden `isReady` says no, or if it goes on by itself and keeps its slot (contract C6).
    private func run(_ chosen: Unmanaged<Operation>, of queue: QueueCore) -> Bool {
        operation = chosen
        noteProgress()
        let isFinished = chosen._withUnsafeGuaranteedRef { operation in
            if operation.state.load().has(OperationState.Word.hasOwnReadiness), !operation.isStillReady(in: queue) {
                return false
            }
            operation.start()
            return operation.state.load().isFinished || !operation.state.detach()
        }
        operation = nil
        endPresumption()
        return isFinished
    }

    private func callAtNormalPriority(_ block: @escaping @Sendable () -> Void) {
        if pool.band == .normal { call(block) } else { WorkerPool.of(.normal).submit(.block(block)) }
    }

    /// Whether the worker keeps to this queue: not when more workers run than should, and not past its quantum when
    /// another queue waits in the pool.
    private func mayGoOn(with queue: QueueCore) -> Bool {
        if pool.isCrowded { return false }
        let others = pool.pendingCount - (queue.isCalled(pool.band) ? 1 : 0)
        quantum = others > 0 ? quantum - 1 : Self.fullQuantum
        return quantum > 0
    }

    private func call(_ block: @Sendable () -> Void) {
        noteProgress()
        block()
        endPresumption()
    }

    /// Keeps an operation of the worker's own queue for the next `advance`. False if it is another queue's.
    func keepReadied(_ operation: Operation, of queue: QueueCore) -> Bool {
        guard queue === self.queue else { return false }
        readied.append(.passUnretained(operation))
        return true
    }

    func fileReadied() {
        guard !readied.isEmpty, let queue else { return }
        queue.file(readied)
        readied.removeAll(keepingCapacity: true)
    }

    /// The calling thread's worker, if it has chosen the operation for its queue and is inside its `start`. Not
    /// retained: it outlives what its thread does.
    @inline(__always)
    static func about(toStart candidate: Operation) -> Unmanaged<Worker>? {
        guard let thread = clinux_current_worker() else { return nil }
        let worker = Unmanaged<Worker>.fromOpaque(thread)
        let isIt = worker._withUnsafeGuaranteedRef {
            $0.operation?.toOpaque() == Unmanaged.passUnretained(candidate).toOpaque()
        }
        return isIt ? worker : nil
    }

    // MARK: Blocking

    /// Runs a wait of the calling thread. On a worker, another one takes over its work meanwhile (contract O6).
    static func waiting<Result>(_ wait: () -> Result) -> Result {
        guard let worker = current else { return wait() }
        let queue = worker.queue
        worker.endPresumption()
        worker.pool.beginBlocking(worker)
        queue?.countWaitingInside(1)
        defer {
            queue?.countWaitingInside(-1)
            worker.pool.endBlocking(worker)
        }
        return wait()
    }

    private func noteProgress() {
        progress.store(progress.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    private func endPresumption() {
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
