import Synchronization

/// How a runner runs a closure: without an operation object, unless someone asks for one in the meantime.
///
/// The asking thread makes the object under the queue's lock and leaves it in `closureObject`. From then on the object
/// represents the closure and has its slot. When the closure has returned, the runner finishes the object like any
/// operation.
extension Runner {
    /// The object of the running closure, if there is one. On the runner's own thread.
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

    /// Calls the closure. A function of its own, so that what the closure has captured is released when this returns,
    /// before the slot is given back (contract K13). Returns false if the closure has an object.
    @inline(never)
    private func callClosure(of queue: QueueCore) -> Bool {
        let closure = heldClosure.move()
        closure.run()
        if queue.hasEndOfMainListener { queue.existingEndOfMainListener?.mainHasEnded() }
        // Observers of the queue are notified of the end of the object.
        if queue.hasObservers { _ = queue.makeObject(for: self) }
        return withExtendedLifetime(closure) {
            if closeUnseen() {
                hand = .nothing
                return true
            }
            // The thread that makes the object copies the closure under the lock. Wait for it.
            queue.lock.withLock {}
            return false
        }
    }

    /// The closure has run as the block of an object. Finishes the object and takes it out of the queue.
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

    /// The content of a hand, as seen by a thread that holds the queue's lock. Not a tuple: see `BlockPlace.Words`.
    enum Seen {
        case nothing
        case operation(Operation)
        /// Just made for the closure, and retained for the queue.
        case newObject(Operation)
    }

    /// The operation in the hand, for a thread that holds the queue's lock. A closure gets an object.
    func operationSeen(of queue: QueueCore) -> Seen {
        guard opensHand() else { return .nothing }
        switch hand {
        case .nothing, .guest: return .nothing
        case .operation(let operation): return .operation(operation.takeUnretainedValue())
        case .closure:
            if let closureObject { return .operation(closureObject) }
            // The runner has moved the closure out to call it, and keeps it alive until it has closed the hand. So the
            // bits in `heldClosure` can still be copied.
            let object = BlockOperation(heldClosure.pointee, in: queue, sequence: closureSequence)
            object.state.enterExecuting()
            object.place = ListPlace(kind: .chosen, level: .normal)
            closureObject = Unmanaged.passRetained(object).takeUnretainedValue()
            return .newObject(object)
        }
    }
}
