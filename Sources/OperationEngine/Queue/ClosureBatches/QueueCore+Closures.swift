/// Closures that were added without an object each.
extension QueueCore {
    /// Adds a closure without an object. False if it has to be added as one.
    @inline(__always)
    func add(_ closure: @escaping @Sendable () -> Void) -> Bool {
        if newcomersBand != .normal || entrance.takesObject() { return false }
        entrance.lock.lock()
        // Counted before it can be found, and end.
        if entrance.countIn() { countIn(Self.anyClosures) }
        if !entrance.append(closure) { pushBatch(of: closure) }
        entrance.lock.unlock()
        signal(.normal)
        return true
    }

    @inline(never)
    private func pushBatch(of closure: @escaping @Sendable () -> Void) {
        // Retained once more, for the queue.
        inbox.push(.batch(entrance.makeBatch(of: closure).retain()))
    }

    /// Under the lock.
    @inline(__always)
    func countOutClosures(_ count: Int) {
        endedClosures.store(endedClosures.load(ordering: .relaxed) + count, ordering: .releasing)
    }

    /// Whether all closures have ended, so that they are to be counted out. Under the lock, by a runner that found
    /// nothing to do, or nothing of them: the last of them comes here.
    func endClosures() -> Bool {
        let ended = endedClosures.load(ordering: .relaxed)
        return entrance.addedCount == ended && entrance.endCounting(ended)
    }

    /// Counts them out if all have ended, for a runner that goes on with something else.
    func countOutEndedClosures() {
        if entrance.mayBeCounted, lock.withLock({ endClosures() }) { countOut(Self.anyClosures) }
    }

    /// Under the lock: closures have become objects, which are counted for themselves from here on.
    func countAsObjects(_ count: Int) {
        // They are counted twice for a moment: never too few.
        countIn(count)
        countOutClosures(count)
    }

    /// The object for the closure that the calling thread's runner runs.
    func makeObject(for runner: Runner) -> Operation? { lock.withLock { operation(of: runner) } }

    /// What a runner has in hand, if other threads may see it; a closure gets its object. Under the lock.
    func operation(of runner: Runner) -> Operation? {
        switch runner.operationSeen(of: self) {
        case .nothing: return nil
        case .operation(let operation): return operation
        case .newObject(let object):
            state.runningClosures -= 1
            countAsObjects(1)
            return object
        }
    }
}
