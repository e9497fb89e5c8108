import Synchronization

/// Where closures enter a queue. Adding threads take `lock` one after another for some nanoseconds.
struct ClosureEntrance: ~Copyable {
    let lock = FutexLock()
    /// The batch that closures are added to, retained. Its queue may have closed it meanwhile. Written under `lock`.
    private let current = Atomic<UnsafeMutableRawPointer?>(nil)
    /// All closures that were ever added. Written under `lock`, before the closure is there.
    private let total = Atomic<Int>(0)
    /// Whether closures are counted among the queue's unfinished operations, as one unit for all. Written under `lock`.
    private let isCounted = Atomic<Bool>(false)
    /// Closures of the next batch. Guarded by `lock`.
    private let nextCapacity = Atomic<Int>(smallestCapacity)
    /// How many closures are to be added as objects, since the batches have been short. A mere hint.
    private let objectsFirst = Atomic<Int>(0)

    private static let smallestCapacity = 8
    private static let largestCapacity = 128
    /// A batch that was closed with fewer closures did not pay.
    private static let fewClosures = 3
    private static let objectsAfterFew = 32

    deinit { batch?.release() }

    // MARK: Counting

    /// Closures added so far, for who has finished as many.
    var addedCount: Int { total.load(ordering: .sequentiallyConsistent) }
    /// A look without the lock, for who has ended a closure, and therefore sees that it was counted.
    var mayBeCounted: Bool { isCounted.load(ordering: .relaxed) }

    /// Counts a closure. True if closures have to be counted as unfinished from here on. Under `lock`.
    @inline(__always)
    func countIn() -> Bool {
        total.store(total.load(ordering: .relaxed) + 1, ordering: .releasing)
        if isCounted.load(ordering: .relaxed) { return false }
        isCounted.store(true, ordering: .relaxed)
        return true
    }

    /// Ends the counting if no more than `ended` closures were ever added. True if it has ended now.
    func endCounting(_ ended: Int) -> Bool {
        lock.withLock {
            guard isCounted.load(ordering: .relaxed), total.load(ordering: .relaxed) == ended else { return false }
            isCounted.store(false, ordering: .relaxed)
            return true
        }
    }

    // MARK: Adding

    /// Whether the next closure is to be an object, among the operations between which it is added.
    @inline(__always)
    func takesObject() -> Bool {
        let left = objectsFirst.load(ordering: .relaxed)
        if left == 0 { return false }
        objectsFirst.store(left - 1, ordering: .relaxed)
        return true
    }

    private var batch: Unmanaged<ClosureBatch>? {
        @inline(__always) get { current.load(ordering: .relaxed).map { Unmanaged<ClosureBatch>.fromOpaque($0) } }
    }

    /// Adds a closure to the current batch; false if a new one has to be made. Under `lock`.
    @inline(__always)
    func append(_ closure: @escaping @Sendable () -> Void) -> Bool {
        batch?._withUnsafeGuaranteedRef { $0.append(closure) } ?? false
    }

    /// Makes a batch of one closure the current one, since `append` was refused. Under `lock`.
    func makeBatch(of closure: @escaping @Sendable () -> Void) -> Unmanaged<ClosureBatch> {
        let capacity = nextCapacity.load(ordering: .relaxed)
        // One that nobody closed is full.
        if let full = detachBatch(nextCapacity: { $0.isClosed ? $0.count : capacity * 2 }) { full.release() }
        let new = Unmanaged.passRetained(
            ClosureBatch(closure, capacity: nextCapacity.load(ordering: .relaxed)))
        current.store(new.toOpaque(), ordering: .releasing)
        return new
    }

    /// Closes the current batch, if there is one, since an operation was added behind it.
    @inline(__always)
    func closeBatch() {
        if current.load(ordering: .acquiring) != nil { closeCurrent() }
    }

    @inline(never)
    private func closeCurrent() {
        lock.lock()
        let detached = detachBatch { batch in
            if !batch.isClosed {
                batch.close()
                if batch.count < Self.fewClosures { objectsFirst.store(Self.objectsAfterFew, ordering: .relaxed) }
            }
            return batch.count
        }
        lock.unlock()
        detached?.release()
    }

    /// From here on nobody adds to the batch, which is handed to the caller. Under `lock`.
    private func detachBatch(nextCapacity size: (ClosureBatch) -> Int) -> Unmanaged<ClosureBatch>? {
        guard let batch else { return nil }
        let wanted = batch._withUnsafeGuaranteedRef(size)
        nextCapacity.store(min(max(wanted, Self.smallestCapacity), Self.largestCapacity), ordering: .relaxed)
        current.store(nil, ordering: .relaxed)
        return batch
    }
}
