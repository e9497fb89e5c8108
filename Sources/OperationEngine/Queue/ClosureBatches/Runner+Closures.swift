import Synchronization

/// How a runner runs a closure: without an operation object, unless somebody asks for one meanwhile.
///
/// Who asks makes the object, under the queue's lock, and leaves it in `closureObject`. From there on the object stands
/// for the closure: it has its slot, and when the closure has returned the runner finishes it like any operation.
extension Runner {
    /// The object of the closure that runs, if there is one. On the runner's own thread.
    @inline(__always)
    var objectOfClosure: Operation? {
        guard handPhase.load(ordering: .acquiring) == HandPhase.seen.rawValue, let queue else { return nil }
        return queue.lock.withLock { closureObject }
    }

    /// Runs the closure in the hand.
    @inline(__always)
    func runClosure(of queue: QueueCore) {
        if callClosure(of: queue) { ended = .closure } else { finishClosureObject(of: queue) }
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
            if closeUnseen() {
                hand = .nothing
                return true
            }
            // Whoever makes the object copies the closure, under the lock.
            queue.lock.withLock {}
            return false
        }
    }

    /// The closure has run as an object's block: ends the object, and takes it out of the queue.
    @inline(never)
    private func finishClosureObject(of queue: QueueCore) {
        let object = queue.lock.withLock {
            let object = Unmanaged<Operation>.passUnretained(closureObject.take().unsafelyUnwrapped)
            hand = .operation(object)
            return object
        }
        object._withUnsafeGuaranteedRef { $0.finish(from: .executing, on: .passUnretained(self)) }
        end(object, of: queue)
    }

    /// What a thread that holds the queue's lock sees in a hand. No tuple: see `BlockPlace.Words`.
    enum Seen {
        case nothing
        case operation(Operation)
        /// Made of the closure just now, and retained for the queue.
        case newObject(Operation)
    }

    /// The operation in the hand, for a thread that holds the queue's lock; a closure gets an object.
    func operationSeen(of queue: QueueCore) -> Seen {
        guard opensHand() else { return .nothing }
        switch hand {
        case .nothing, .guest: return .nothing
        case .operation(let operation): return .operation(operation.takeUnretainedValue())
        case .closure:
            if let closureObject { return .operation(closureObject) }
            // The runner has moved the closure out to call it, and keeps it alive until it has closed the hand.
            let object = BlockOperation(heldClosure.pointee, in: queue, sequence: closureSequence)
            object.state.enterExecuting()
            object.place = QueuePlace(kind: .executing, level: .normal)
            closureObject = Unmanaged.passRetained(object).takeUnretainedValue()
            return .newObject(object)
        }
    }
}
