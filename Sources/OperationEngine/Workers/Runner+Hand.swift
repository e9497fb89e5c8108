import Synchronization

/// A runner's hand: its content, how other threads look at it, and how it is emptied.
///
/// **Looking into a hand.** A queue that lists or cancels its operations looks into the hands of the runners on its
/// list, under its lock. The hand opens when it is filled, under the same lock. The first thread that looks moves it
/// from `open` to `seen`. From then on the lock guards the hand until it is closed.
///
/// **Closing a hand.** The runner closes it without the lock, by the step from `open` to `closed`. If that fails,
/// another thread has looked, or is looking just now. Then the runner takes the lock to close it. So what is found in
/// an open hand stays alive for as long as the lock is held.
extension Runner {
    enum Hand {
        case nothing
        /// An operation that ends in the engine's own `start`. It holds a slot, and is in no list of the queue.
        case operation(Unmanaged<Operation>)
        /// An operation that may continue after its `start`, or needs more care for another reason: see
        /// `OperationState.Word.isGuest`. The queue has it in a list, and no other thread looks here.
        case guest(Unmanaged<Operation>)
        /// A closure without an object, which holds a slot.
        case closure(WaitingClosure.Pointer)

        @inline(__always)
        var isNothing: Bool { if case .nothing = self { true } else { false } }
    }

    /// How an item that has ended, and still holds its slot, leaves the queue.
    enum Ended {
        case nothing
        /// The runner counts it out together with others.
        case countedTogether
        /// It is counted out by itself.
        case countedAlone
        /// It has given its slot back already, and other workers were called for what was left.
        case withoutSlot
    }

    enum HandPhase: UInt8 {
        /// Other threads find nothing here.
        case closed
        case open
        /// A thread has looked, under the queue's lock, which guards the hand from then on.
        case seen
    }

    /// Takes an operation that its queue has in no list. Under the queue's lock, as are the next two methods.
    @inline(__always)
    func fillHand(with operation: Unmanaged<Operation>) {
        hand = .operation(operation)
        openHand()
    }

    @inline(__always)
    func fillHand(withClosure closure: WaitingClosure.Pointer) {
        hand = .closure(closure)
        openHand()
    }

    func fillHand(withGuest guest: Unmanaged<Operation>) { hand = .guest(guest) }

    /// Relaxed: a thread that looks holds the lock.
    @inline(__always)
    private func openHand() { handPhase.store(HandPhase.open.rawValue, ordering: .relaxed) }

    @inline(__always)
    private func step(to next: HandPhase) -> Bool {
        handPhase.compareExchange(
            expected: HandPhase.open.rawValue, desired: next.rawValue, successOrdering: .acquiringAndReleasing,
            failureOrdering: .acquiring
        ).exchanged
    }

    /// Closes the hand if no other thread has looked into it.
    @inline(__always)
    func closeUnseen() -> Bool { step(to: .closed) }

    /// The operation in the hand has ended.
    @inline(__always)
    func emptyHand(of queue: QueueCore) {
        if !closeUnseen() { closeSeen(of: queue) }
        hand = .nothing
    }

    @inline(never)
    private func closeSeen(of queue: QueueCore) {
        queue.lock.withLock { handPhase.store(HandPhase.closed.rawValue, ordering: .relaxed) }
    }

    /// Whether the caller may look into the hand. The hand then stays as it is until the caller releases the queue's
    /// lock. Under that lock.
    func opensHand() -> Bool {
        step(to: .seen) || handPhase.load(ordering: .relaxed) == HandPhase.seen.rawValue
    }

    /// The item in the hand, for a thread that holds the queue's lock. A closure stays one if it has no object.
    func itemSeen() -> QueueItem.Pointer? {
        guard opensHand() else { return nil }
        switch hand {
        case .nothing, .guest: return nil
        case .operation(let operation): return operation.takeUnretainedValue().asItem
        case .closure(let closure): return closureObject?.asItem ?? closure.asItem
        }
    }

    /// The operation that runs; a closure gets its object. On the runner's own thread.
    var operationInHand: Operation? {
        switch hand {
        case .nothing: nil
        case .operation(let operation), .guest(let operation): operation.takeUnretainedValue()
        case .closure: makeObject()
        }
    }
}
