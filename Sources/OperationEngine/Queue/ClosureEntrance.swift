import Synchronization

/// Where closures enter a queue.
///
/// Adding threads take `lock` one after another for some nanoseconds. Taken inside the queue's lock by who closes the
/// open run, never the other way round.
struct ClosureEntrance: ~Copyable {
    let lock = FutexLock()
    /// The open run, not retained: the queue releases no run that is open. Written under `lock`.
    private let openRun = Atomic<UnsafeMutableRawPointer?>(nil)
    /// All closures that were ever added. Written under `lock`, before the closure is there.
    private let total = Atomic<Int>(0)
    /// Whether closures are counted among the queue's unfinished operations, as one unit for all. Written under `lock`.
    private let isCounted = Atomic<Bool>(false)
    /// Closures of the next run. Guarded by `lock`.
    private let nextCapacity = Atomic<Int>(smallestCapacity)
    /// How many closures are to be added as objects, since the runs have been short. A mere hint.
    private let objectsFirst = Atomic<Int>(0)

    private static let smallestCapacity = 8
    private static let largestCapacity = 128
    /// A run that was closed with fewer closures did not pay.
    private static let fewClosures = 3
    private static let objectsAfterFew = 32

    /// Closures added so far, for who has finished as many.
    var addedCount: Int { total.load(ordering: .sequentiallyConsistent) }
    /// A look without the lock, for who has ended a closure, and therefore sees that it was counted.
    var mayBeCounted: Bool { isCounted.load(ordering: .relaxed) }

    /// Whether the next closure is to be an object, among the operations between which it is added.
    @inline(__always)
    func takesObject() -> Bool {
        let left = objectsFirst.load(ordering: .relaxed)
        if left == 0 { return false }
        objectsFirst.store(left - 1, ordering: .relaxed)
        return true
    }

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

    /// The open run. Under `lock`.
    @inline(__always)
    var open: Unmanaged<ClosureRun>? {
        openRun.load(ordering: .relaxed).map { Unmanaged<ClosureRun>.fromOpaque($0) }
    }

    /// Makes a run of one closure the open one. Under `lock`.
    func openRun(for closure: @escaping @Sendable () -> Void) -> ClosureRun {
        let capacity = nextCapacity.load(ordering: .relaxed)
        // A run that was not closed is full.
        nextCapacity.store(min(capacity * 2, Self.largestCapacity), ordering: .relaxed)
        let run = ClosureRun(closure, capacity: capacity)
        openRun.store(Unmanaged.passUnretained(run).toOpaque(), ordering: .releasing)
        return run
    }

    /// Closes the open run, if there is one, since an operation was added behind it.
    @inline(__always)
    func closeOpenRun() {
        if openRun.load(ordering: .acquiring) != nil { closeIfStillOpen() }
    }

    @inline(never)
    private func closeIfStillOpen() {
        lock.withLock {
            guard let run = open else { return }
            let used = close(run)
            if used < Self.fewClosures { objectsFirst.store(Self.objectsAfterFew, ordering: .relaxed) }
        }
    }

    /// Closes a run, unless it is closed already.
    func closeIfOpen(_ run: ClosureRun) {
        // One that is not the open one any more never will be.
        if openRun.load(ordering: .acquiring) != Unmanaged.passUnretained(run).toOpaque() { return }
        lock.withLock {
            if open?.toOpaque() == Unmanaged.passUnretained(run).toOpaque() { _ = close(.passUnretained(run)) }
        }
    }

    /// Closes the open run. Returns how many closures were added to it. Under `lock`.
    ///
    /// The step to nil comes last: who sees it without the lock, and holds the queue's, may release the run. Releasing: it
    /// pairs with the acquiring look in `closeIfOpen`, so that what is read of the run here is read before that.
    private func close(_ run: Unmanaged<ClosureRun>) -> Int {
        let used = run._withUnsafeGuaranteedRef { $0.used }
        nextCapacity.store(min(max(used, Self.smallestCapacity), Self.largestCapacity), ordering: .relaxed)
        openRun.store(nil, ordering: .releasing)
        return used
    }
}
