import Synchronization

/// How a runner runs the closures of a run: without an operation object, unless somebody asks for one meanwhile.
///
/// **Who has the closure.** The runner takes it from its run under the queue's lock, in the phase `running`, or `inHand`
/// if the operation before it has still to be released. A thread that wants the object holds that lock and moves the
/// phase from there on to `becomesObject`; the runner moves it from `inHand` to `running` when it begins, and from
/// `running` to `none` at the end, with the closure still alive. Each step is a compare-exchange, so that one side sees
/// that the other was faster.
extension Runner {
    enum ClosurePhase: UInt8 {
        case none
        /// Taken, while the operation before it is released.
        case inHand
        case running
        /// The object is being made.
        case becomesObject
        /// The object is there, and stands for the closure from here on.
        case object
    }

    /// What became of a closure for which an object was asked.
    enum ClosureObject {
        case none
        /// The runner runs it, and brings the object to its end.
        case executing(BlockOperation)
        /// The runner had not begun it, and will not.
        case inHand(BlockOperation)
    }

    /// Gets the closure that was chosen. Under the queue's lock.
    @inline(__always)
    func hold(_ taken: BlockOperation.Block, sequence: UInt64) {
        heldClosure.initialize(to: taken)
        closureSequence = sequence
        holdsClosure = true
        isInHand = isReleasing
        // Whoever looks holds the lock.
        closurePhase.store((isInHand ? ClosurePhase.inHand : .running).rawValue, ordering: .relaxed)
    }

    @inline(__always)
    private func step(from phase: ClosurePhase, to next: ClosurePhase) -> Bool {
        closurePhase.compareExchange(
            expected: phase.rawValue, desired: next.rawValue, successOrdering: .acquiringAndReleasing,
            failureOrdering: .acquiring
        ).exchanged
    }

    // MARK: On the runner's own thread

    /// Whether the caller is a closure that this runner runs.
    var isInsideClosure: Bool { holdsClosure && !isReleasing }

    /// The object of the closure that runs, if there is one by now.
    var objectOfRunningClosure: Operation? {
        guard isInsideClosure, closurePhase.load(ordering: .acquiring) == ClosurePhase.object.rawValue else {
            return nil
        }
        return closureObject
    }

    /// The operation that runs for a queue; a closure gets its object.
    var operationOrClosure: Operation? {
        operation?.takeUnretainedValue() ?? (isInsideClosure ? queue?.makeObject(for: self) : nil)
    }

    /// Runs the closure that it holds, and advances the queue.
    @inline(__always)
    func runClosure(of queue: QueueCore) -> Unmanaged<Operation>? {
        if isInHand, !step(from: .inHand, to: .running) {
            dropTakenBack(by: queue)
            return queue.advance(self, retiring: nil, mayGoOn: mayGoOn(with: queue))
        }
        let hasNoObject = callClosure(of: queue)
        if hasNoObject {
            holdsClosure = false
            endPresumption()
            return queue.advanceFromClosure(self, mayGoOn: mayGoOn(with: queue))
        }
        return finishClosureObject(of: queue)
    }

    /// A function of its own: what the closure has captured is released when it returns, before its slot is given back
    /// (contract K13). False if there is an object.
    @inline(never)
    private func callClosure(of queue: QueueCore) -> Bool {
        let closure = heldClosure.move()
        closure.run()
        if queue.hasEndOfMainListener { queue.existingEndOfMainListener?.mainHasEnded() }
        // Who observes the queue is told of the object's end.
        if queue.hasObservers { _ = queue.makeObject(for: self) }
        return withExtendedLifetime(closure) {
            if step(from: .running, to: .none) { return true }
            // Whoever makes the object copies the closure, under the lock.
            queue.lock.withLock {}
            return false
        }
    }

    /// The closure has run as an object's block: ends the object, and takes it out of the queue.
    @inline(never)
    private func finishClosureObject(of queue: QueueCore) -> Unmanaged<Operation>? {
        let object = takeClosureObject(of: queue)
        return finishAndRetire(.passUnretained(object), of: queue)
    }

    /// The closure was taken back before it has begun.
    @inline(never)
    private func dropTakenBack(by queue: QueueCore) { _ = takeClosureObject(of: queue) }

    private func takeClosureObject(of queue: QueueCore) -> BlockOperation {
        // Behind the lock the object is there.
        queue.lock.withLock {
            holdsClosure = false
            closurePhase.store(ClosurePhase.none.rawValue, ordering: .relaxed)
            return closureObject.take().unsafelyUnwrapped
        }
    }

    // MARK: Under the queue's lock, by any thread

    /// Makes the object of a closure that is taken and not ended, if it has none. It is retained for the queue.
    func makeObject(of queue: QueueCore) -> ClosureObject {
        let isRunning: Bool
        if step(from: .running, to: .becomesObject) {
            isRunning = true
        } else if step(from: .inHand, to: .becomesObject) {
            isRunning = false
        } else {
            return .none
        }
        // The runner may have moved the closure out to call it, and keeps it alive until its next step of the phase.
        let object = BlockOperation(heldClosure.pointee, in: queue, sequence: closureSequence)
        if isRunning {
            object.state.enterExecuting()
        } else {
            object.state.enterReady()
            heldClosure.deinitialize(count: 1)
        }
        _ = Unmanaged.passRetained(object)
        closureObject = object
        closurePhase.store(ClosurePhase.object.rawValue, ordering: .releasing)
        return isRunning ? .executing(object) : .inHand(object)
    }
}
