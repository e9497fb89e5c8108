import Synchronization

/// The right of a lease's holder to choose: items of this band, and only while the queue runs on this target.
struct Lease {
    let band: NiceBand
    let target: LeaseTarget
}

/// The target of a queue's leases: the engine's pool, or a queue of Dispatch.
///
/// Each setting of a Dispatch queue gives a new number. A lease for an earlier setting may lie there for long. Its
/// number shows that, and it chooses nothing. So no operation runs where the queue no longer runs.
struct LeaseTarget: Equatable {
    private let number: UInt64

    static let pool = LeaseTarget(number: 0)

    static func next() -> LeaseTarget { LeaseTarget(number: lastNumber.wrappingAdd(1, ordering: .relaxed).newValue) }

    private static let lastNumber = Atomic<UInt64>(0)
}

/// A piece of work that a queue has chosen for a runner.
enum Choice {
    case nothing
    case operation(Unmanaged<Operation>)
    case guest(Unmanaged<Operation>)
    case closure(WaitingClosure.Pointer)

    @inline(__always)
    var isNothing: Bool { if case .nothing = self { true } else { false } }

    /// Whether it certainly holds a slot.
    @inline(__always)
    var takesSlot: Bool {
        switch self {
        case .operation, .closure: true
        case .nothing, .guest: false
        }
    }
}

/// Chooses what a runner starts next, and takes back what was chosen.
extension QueueState {
    /// Chooses what the holder of a lease starts now: the first of all ready items of its band or, where slots are
    /// scarce, of all bands (contract G4, G12). A chosen operation is dispatched. A chosen item holds a slot if it takes
    /// one.
    mutating func choose(for lease: Lease) -> Choice {
        while let item = first(for: lease) {
            if item.pointee.place.level == .slotless, drop(item) { continue }
            // Releasing what was dropped may run user code. Nothing is chosen before that.
            if !dropped.isEmpty || !hasSlot(for: item) { return .nothing }
            let choice = begin(item)
            if !choice.isNothing { return choice }
        }
        return .nothing
    }

    /// As `choose`, for normal priority or higher. It makes one check only, so it may find nothing where `choose` would
    /// find something.
    @inline(__always)
    mutating func chooseNormal(for lease: Lease) -> Choice {
        guard ready.hasNormal, ready.slotlessCount == 0, let item = first(for: lease), hasSlot(for: item) else {
            return .nothing
        }
        return begin(item)
    }

    /// Does what filing a readied operation and then choosing would do, if nothing else is ready. It may return
    /// nothing, with no change, where `choose` would find the operation.
    @inline(__always)
    mutating func chooseReadied(_ readied: Unmanaged<Operation>, for lease: Lease) -> Choice {
        guard ready.count == 0, !isSuspended, freeSlots > 0, held.isEmpty, lease.target == target,
            lease.band == .normal
        else { return .nothing }
        return readied._withUnsafeGuaranteedRef { operation in
            guard operation.place.kind == .waiting, let word = operation.state.dispatchUnfiled() else {
                return .nothing
            }
            waiting.remove(operation)
            return begin(operation, word, level: word.level)
        }
    }

    /// The first of the items that the lease may choose.
    @inline(__always)
    private mutating func first(for lease: Lease) -> QueueItem.Pointer? {
        guard !isSuspended, lease.target == target, hasDefaultLimit || ready.leadingBand() == lease.band else {
            return nil
        }
        return ready.first(of: lease.band)
    }

    @inline(__always)
    private func hasSlot(for item: QueueItem.Pointer) -> Bool {
        freeSlots > 0 || item.pointee.place.level == .slotless
    }

    /// Takes the first item. Returns nothing if it is an operation that is no longer ready.
    @inline(__always)
    private mutating func begin(_ item: QueueItem.Pointer) -> Choice {
        let level = item.pointee.place.level
        ready.removeFirst(item)
        if item.isClosure {
            running += 1
            return .closure(item.closure)
        }
        return item.operation._withUnsafeGuaranteedRef { operation in
            if let word = operation.state.dispatch() { return begin(operation, word, level: level) }
            // It got a dependency in the meantime (contract E18), or another thread is about to file it again.
            placeAmongWaiting(operation)
            return .nothing
        }
    }

    /// Begins an operation that was dispatched and is in no list.
    @inline(__always)
    private mutating func begin(
        _ operation: Operation, _ word: OperationState.Word, level: PriorityLevel
    ) -> Choice {
        operation.place = ListPlace(kind: .chosen, level: level)
        if level != .slotless { running += 1 }
        let link = Unmanaged.passUnretained(operation)
        if level != .slotless, !word.has(OperationState.Word.isGuest) { return .operation(link) }
        if level == .slotless { tally.slotlessRunning += 1 }
        if word.isCancelled {
            tally.cancelled += 1
            operation.place.kind = .chosenCancelled
        }
        guests.append(operation)
        return .guest(link)
    }

    /// Whether a runner that gives its slot back and takes it again changes nothing for other threads. The queue is as
    /// open as before, and workers were called for the ready items when these became ready.
    @inline(__always)
    var isPlain: Bool { held.isEmpty && ready.isPlain }

    /// An operation that announced its own end leaves its list, and frees its slot if it has one.
    mutating func withdraw(_ operation: Operation) {
        if operation.place.isChosen {
            if operation.place.level == .slotless { tally.slotlessRunning -= 1 } else { running -= 1 }
        }
        unlist(operation.asItem)
    }

    /// Makes a chosen guest wait again because its overridden `isReady` says no. Returns false if it has to be asked
    /// again.
    mutating func unchoose(_ operation: Operation) -> Bool {
        guard operation.state.unchoose() else { return false }
        if operation.place.kind == .chosenCancelled { tally.cancelled -= 1 }
        withdraw(operation)
        placeAmongWaiting(operation)
        return true
    }
}
