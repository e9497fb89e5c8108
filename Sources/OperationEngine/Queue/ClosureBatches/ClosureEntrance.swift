import Synchronization

/// The entrance for closures into a queue. An adding thread holds `lock` for some nanoseconds.
struct ClosureEntrance: ~Copyable {
    let lock = FutexLock()
    /// The batch that closures are added to, retained. Its queue may have closed it already. Written under `lock`.
    private let current = Atomic<UnsafeMutableRawPointer?>(nil)
    /// How many closures were ever added. Written under `lock`, before the closure is in its batch.
    private let total = Atomic<Int>(0)
    /// Whether the closures are counted in the queue's `unfinished`, as one unit for all. Written under `lock`.
    private let isCounted = Atomic<Bool>(false)
    /// The capacity of the next batch. Guarded by `lock`.
    private let nextCapacity = Atomic<Int>(smallestCapacity)
    /// How many of the next closures to add as objects, because the last batches were short. Only a hint.
    private let objectsFirst = Atomic<Int>(0)

    private static let smallestCapacity = 8
    private static let largestCapacity = 128
    /// A batch that was closed with fewer closures was not worth its cost.
    private static let fewClosures = 3
    private static let objectsAfterFew = 32

    deinit { batch?.release() }

    // MARK: Counting

    /// How many closures were added so far.
    var addedCount: Int { total.load(ordering: .sequentiallyConsistent) }
    /// Read without the lock. A runner that has ended a closure sees that it was counted.
    var mayBeCounted: Bool { isCounted.load(ordering: .relaxed) }

    /// Counts a closure. Returns true if the caller has to count the closures in `unfinished`. Under `lock`.
    @inline(__always)
    func countIn() -> Bool {
        total.store(total.load(ordering: .relaxed) + 1, ordering: .releasing)
        if isCounted.load(ordering: .relaxed) { return false }
        isCounted.store(true, ordering: .relaxed)
        return true
    }

    /// Ends the counting if no more than `ended` closures were ever added. Returns true if this call has ended it.
    func endCounting(_ ended: Int) -> Bool {
        lock.withLock {
            guard isCounted.load(ordering: .relaxed), total.load(ordering: .relaxed) == ended else { return false }
            isCounted.store(false, ordering: .relaxed)
            return true
        }
    }

    // MARK: Adding

    /// Whether the next closure is to be added as an object, because operations were added between the last ones.
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

    /// Adds a closure to the current batch. Returns false if a new batch has to be made. Under `lock`.
    @inline(__always)
    func append(_ closure: @escaping @Sendable () -> Void) -> Bool {
        batch?._withUnsafeGuaranteedRef { $0.append(closure) } ?? false
    }

    /// Makes a new batch with one closure, which becomes the current one. Called when `append` has refused the closure.
    /// Under `lock`.
    func makeBatch(of closure: @escaping @Sendable () -> Void) -> Unmanaged<ClosureBatch> {
        let capacity = nextCapacity.load(ordering: .relaxed)
        // A batch that was not closed is full.
        if let full = detachBatch(nextCapacity: { $0.isClosed ? $0.count : capacity * 2 }) { full.release() }
        let new = Unmanaged.passRetained(
            ClosureBatch(closure, capacity: nextCapacity.load(ordering: .relaxed)))
        current.store(new.toOpaque(), ordering: .releasing)
        return new
    }

    /// Closes the current batch, if there is one, because an operation was added behind it.
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

    /// Hands the current batch to the caller. No closure is added to it from here on. Under `lock`.
    private func detachBatch(nextCapacity size: (ClosureBatch) -> Int) -> Unmanaged<ClosureBatch>? {
        guard let batch else { return nil }
        let wanted = batch._withUnsafeGuaranteedRef(size)
        nextCapacity.store(min(max(wanted, Self.smallestCapacity), Self.largestCapacity), ordering: .relaxed)
        current.store(nil, ordering: .relaxed)
        return batch
    }
}
