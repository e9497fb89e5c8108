import Dispatch
import Glibc
import OperationEngine
import Synchronization
import TestSupport

/// The record of one part of a mixture: its plan, and what happened to it. Times are those of the program's `History`;
/// 0 is never.
final class MixtureItem: @unchecked Sendable {
    let index: Int
    let part: MixturePlan.Part
    /// Written before any other thread, and read from then on. Nil for a closure and a barrier, and once it is freed.
    weak var operation: Operation?

    let addBegin = Atomic<UInt64>(0)
    let addEnd = Atomic<UInt64>(0)
    /// The thread that adds it, while it does.
    let addingThread = Atomic<UInt>(0)
    let runs = Atomic<Int>(0)
    let started = Atomic<UInt64>(0)
    let ended = Atomic<UInt64>(0)
    /// The thread that ran it. Written before `ended`.
    let runningThread = Atomic<UInt>(0)
    let completions = Atomic<Int>(0)
    let cancels = Atomic<Int>(0)
    let finishesHeard = Atomic<Int>(0)

    // Of an operation with state of its own.
    /// Whether it has ended before its turn, and when that had been announced.
    let isEndedEarly = Atomic<Bool>(false)
    let announced = Atomic<UInt64>(0)
    /// Whether nobody may have chosen it before it ended.
    let wasSurelyUnchosen = Atomic<Bool>(false)
    /// When its `start` was called after its end, and by which thread.
    let lateStart = Atomic<UInt64>(0)
    let lateStarter = Atomic<UInt>(0)
    let asks = Atomic<Int>(0)

    init(_ index: Int, _ part: MixturePlan.Part) {
        self.index = index
        self.part = part
    }

    var hasRun: Bool { runs.load(ordering: .relaxed) > 0 }
    var isAdded: Bool { addEnd.load(ordering: .acquiring) != 0 }
    /// Whether it is in the queue, or the calling thread is putting it there.
    var isBeingAskedInQueue: Bool { isAdded || addingThread.load(ordering: .relaxed) == UInt(pthread_self()) }
}

extension MixtureItem: CustomStringConvertible {
    var description: String { "#\(index) (\(part.kind), queue \(part.queue))" }
}

/// A queue of a mixture, and what was done to it.
final class MixtureQueue: @unchecked Sendable {
    let plan: MixturePlan.Queue
    /// Released when all is done.
    private let held: Guarded<OperationQueue?>
    let level = Level()
    /// Calls that added an operation or a closure, counted as they begin, and of them the closures.
    let added = Atomic<Int>(0)
    let closuresAdded = Atomic<Int>(0)
    let closuresBegun = Atomic<Int>(0)
    let cancels = Atomic<Int>(0)
    /// Observers of it that wait for it at the moment.
    let waiters = Atomic<Int>(0)
    let observations = Guarded<[Observation]>([])

    /// A queue of its own class would have no closures without objects.
    init(_ plan: MixturePlan.Queue) {
        self.plan = plan
        let queue = OperationQueue()
        queue.name = "queue \(plan.rank)"
        switch plan.target {
        case .pool: break
        case .serialQueue: queue.underlyingQueue = DispatchQueue(label: "mixture.serial")
        case .concurrentQueue: queue.underlyingQueue = DispatchQueue(label: "mixture", attributes: .concurrent)
        }
        queue.maxConcurrentOperationCount = plan.limit
        queue.isSuspended = plan.isSuspended
        queue.qualityOfService = plan.quality
        held = Guarded(queue)
    }

    /// Until `drop`.
    var queue: OperationQueue { held.read()! }

    func drop() {
        observations.withLock { $0 = [] }
        held.withLock { $0 = nil }
    }

    /// The limits that a storm sets.
    static let stormLimits = [0, 1, 2, 5, -1]

    /// The most operations that may run at once; nil if nothing says so.
    var greatestLimit: Int? {
        if plan.target == .serialQueue { return 1 }
        return plan.limit > 0 && !plan.mayChangeLimit ? plan.limit : nil
    }
}

/// Marks threads that everything else may need: what they release waits for nothing for long.
enum HastyThread {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key, nil)
        precondition(failure == 0, "no thread-specific key: \(String(cString: strerror(failure)))")
        return key
    }()

    static var isCurrent: Bool {
        get { pthread_getspecific(key) != nil }
        set { pthread_setspecific(key, newValue ? UnsafeRawPointer(bitPattern: 1) : nil) }
    }
}
