/// A queue's state machine: which operations it holds, and which may start. Guarded by the queue's lock.
///
/// It calls nothing outside: the methods return what to do after the lock is released.
struct QueueState: ~Copyable {
    private(set) var ready = ReadyQueue()
    /// Operations with unfinished dependencies. Never searched, only linked and unlinked.
    private var waiting = OperationList()
    private var executing = OperationList()
    private var nextSequence: UInt64 = 0

    /// Slots in use: operations chosen and not yet finished.
    private(set) var running = 0
    /// How many of them wait inside an engine wait; with the default limit they take no slot.
    var waitingInside = 0
    var isSuspended = false
    /// Where the operations run. A lease of an earlier target chooses nothing any more.
    var target = LeaseTarget.pool
    /// As set by the user: a count, or −1.
    var limit = OperationQueue.defaultMaxConcurrentOperationCount

    /// With the default limit the pool decides how much runs at once; this bounds what blocked operations can pile up.
    static let defaultLimit = 64

    private var hasDefaultLimit: Bool { limit == OperationQueue.defaultMaxConcurrentOperationCount }
    private var freeSlots: Int { hasDefaultLimit ? Self.defaultLimit - (running - waitingInside) : limit - running }

    /// Whether one more operation may start.
    var isOpen: Bool { !isSuspended && (freeSlots > 0 || ready.slotlessCount > 0) }

    /// How many more workers could run something now.
    var wantedWorkers: Int { isSuspended ? 0 : max(ready.slotlessCount, min(freeSlots, ready.count)) }

    /// The bands of workers that have something to start. With an explicit limit a free slot goes to the operation
    /// that comes first of all, so only its band is called.
    var bandsToCall: BandSet {
        guard isOpen, ready.count > 0 else { return BandSet() }
        guard !hasDefaultLimit, let band = ready.leadingBand else { return ready.bands }
        return BandSet(band)
    }

    // MARK: Filing

    /// Takes in an operation from the inbox.
    mutating func admit(_ operation: Operation) {
        operation.sequence = nextSequence
        nextSequence += 1
        place(operation, operation.state.fileFromInbox())
    }

    /// Puts an operation whose phase is `filing` into its list. Called by the thread that made it so. False if the
    /// answer of its overridden `isReady` is out of date.
    mutating func file(_ operation: Operation, _ answer: Bool?) -> Bool {
        if operation.place.kind == .none {
            operation.state.postponeFiling()
            return true
        }
        let filing = operation.state.finishFiling(answer)
        if case .outdated = filing { return false }
        takeOut(operation)
        place(operation, filing)
        return true
    }

    private mutating func place(_ operation: Operation, _ filing: OperationState.Filing) {
        if case .ready(let word) = filing {
            ready.append(operation, as: .ready(operation, word, band: target == .pool ? word.band : .normal))
        } else {
            operation.place = .waiting
            waiting.append(operation)
        }
    }

    private mutating func takeOut(_ operation: Operation) {
        switch operation.place.kind {
        case .none: break
        case .waiting: waiting.remove(operation)
        case .ready: ready.remove(operation)
        case .executing: executing.remove(operation)
        }
        operation.place = .none
    }

    // MARK: Running

    /// Chooses the operation that the holder of a lease starts now, if any. It is dispatched and holds a slot.
    mutating func choose(for lease: Lease) -> Unmanaged<Operation>? {
        guard isOpen, lease.target == target else { return nil }
        let band = lease.band
        // Contract G4, G12: the best ready operation at this instant. Where slots are scarce, the best of all bands.
        while hasDefaultLimit || ready.leadingBand == band, let reference = ready.first(of: band) {
            let level = reference._withUnsafeGuaranteedRef { $0.place.level }
            if level != .slotless, freeSlots <= 0 { return nil }
            let isChosen = reference._withUnsafeGuaranteedRef { operation in
                ready.remove(operation)
                guard operation.state.dispatch() else {
                    // It has got a dependency since (contract E18), or another thread is about to file it anew.
                    place(operation, .waiting)
                    return false
                }
                operation.place = QueuePlace(kind: .executing, level: level)
                executing.append(operation)
                return true
            }
            if isChosen {
                if level != .slotless { running += 1 }
                return reference
            }
        }
        return nil
    }

    /// A chosen operation is finished: its slot is free. Or one that has finished before it was chosen goes.
    mutating func retire(_ operation: Operation) {
        if operation.place.kind == .executing, operation.place.level != .slotless { running -= 1 }
        takeOut(operation)
    }

    /// Takes a chosen operation back whose overridden `isReady` says no. False if it has to be asked again.
    mutating func takeBack(_ operation: Operation) -> Bool {
        guard operation.state.giveBack() else { return false }
        retire(operation)
        place(operation, .waiting)
        return true
    }

    /// All operations that are not finished, with the numbers that give the order of adding.
    func snapshot() -> [(sequence: UInt64, operation: Operation)] {
        var all: [(sequence: UInt64, operation: Operation)] = []
        let collect = { (operation: Operation) in
            if !operation.state.load().isFinished { all.append((operation.sequence, operation)) }
        }
        executing.forEach(collect)
        ready.forEach(collect)
        waiting.forEach(collect)
        return all
    }
}
