/// How closures without objects enter the queue and are counted out.
extension QueueCore {
    /// Adds a closure without an object. Returns false if it has to be added as an operation.
    @inline(__always)
    func add(_ closure: @escaping @Sendable () -> Void) -> Bool {
        if newcomersBand != .normal || entrance.takesObject() { return false }
        entrance.lock.lock()
        // Counted before another thread can find the closure and end it.
        if entrance.countIn() { countIn(Self.anyClosures) }
        if !entrance.append(closure) { pushBatch(of: closure) }
        entrance.lock.unlock()
        signal(.normal)
        return true
    }

    @inline(never)
    private func pushBatch(of closure: @escaping @Sendable () -> Void) {
        // Retained a second time, for the queue.
        inbox.push(.batch(entrance.makeBatch(of: closure).retain()))
    }

    /// Under the lock.
    @inline(__always)
    func countOutClosures(_ count: Int) {
        endedClosures.store(endedClosures.load(ordering: .relaxed) + count, ordering: .releasing)
    }

    /// Whether all closures have ended and are to be counted out. Under the lock. Called by a runner that found nothing
    /// to do, or no closure to do. The runner of the last closure comes here.
    func endClosures() -> Bool {
        let ended = endedClosures.load(ordering: .relaxed)
        return entrance.addedCount == ended && entrance.endCounting(ended)
    }

    /// Counts the closures out if all have ended. For a runner that turns to other work.
    func countOutEndedClosures() {
        if entrance.mayBeCounted, lock.withLock({ endClosures() }) { countOut(Self.anyClosures) }
    }

    /// Counts closures that have got objects as operations from here on. Under the lock.
    func countAsObjects(_ count: Int) {
        // For a moment they are counted twice, so the count is never too low.
        countIn(count)
        countOutClosures(count)
    }

    /// Makes the object for the closure that the calling thread's runner runs.
    func makeObject(for runner: Runner) -> Operation? { lock.withLock { operation(of: runner) } }

    /// The operation in a runner's hand, if other threads may see it. A closure gets an object. Under the lock.
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
