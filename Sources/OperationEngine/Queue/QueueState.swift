/// A queue's state machine: which operations it holds, and which may start. Guarded by the queue's lock.
///
/// **Pure.** Its methods are the events of the queue: admitted, filed, chosen, ended, suspended, cancelled and so on. They
/// change this value, and the state words of the operations that stand in its lists. They take no lock, and call no
/// runner, observer or code of a user: what follows from an event is returned, or left in `dropped` and `endedInFiling`,
/// for `QueueCore`, which does it after it has released the lock. So all sequences of events can be tried on one thread:
/// see `QueueStateTests`.
///
/// **Barriers divide what is added into segments.** Each operation gets a number when it is admitted; a barrier is a
/// segment of its own, and opens another one behind it. Operations of the segment that is reached are in the lists
/// below; those of later ones are *held*, in lists of their own, whatever their readiness and priority. Only when the
/// reached segment has no operation left does the next one's lists become these, as they are (`reachNextSegment`). So
/// the barrier runs after all before it and alone, and all behind it later (contract P7).
///
/// One exception: a cancelled operation whose `start` is the engine's own finishes without main, and therefore at
/// once, from whatever segment (J4, J5, J9). Nobody can tell it from one that was never added, and in a cycle of
/// dependencies across a barrier this sets the others free (E16). A cancelled barrier likewise: what is behind it joins
/// what was before it (P11).
struct QueueState: ~Copyable {
    /// Of the reached segment; and the cancelled ones of all segments that take no slot.
    var ready = ReadyQueue(isMerged: false)
    /// Of the reached segment, operations with unfinished dependencies. Never searched, only linked and unlinked.
    var waiting = ItemList()
    /// Chosen, not finished, and in no runner's hand: see `OperationState.Word.isGuest`.
    var guests = ItemList()
    /// The segments that barriers hold back.
    var held = HeldSegments()
    var nextSequence: UInt64 = 0
    /// The batch of closures that was taken in last, until something comes behind it; retained. In its list while it has
    /// closures, set aside here alone while it has none.
    var lastBatch: Unmanaged<ClosureBatch>?
    /// What was chosen and is not to run.
    var dropped = DroppedOperations()
    /// How many steps have not yet let go of what those that they dropped were to be executed with. A barrier waits for
    /// that, as for the end of anything before it.
    var endingSteps = 0
    /// Closures that are taken and not ended, and have no object.
    var runningClosures = 0
    /// Operations that have announced their end while they were being filed: to be withdrawn, without the lock.
    var endedInFiling: [Unmanaged<Operation>] = []

    /// Slots in use: by what runners have in hand, or have ended and not yet told of, and by guests.
    var running = 0
    /// How many of them wait inside an engine wait; with the default limit they take no slot.
    var waitingInside = 0
    var isSuspended = false
    /// Whether the queue has, or had, observers, who are told of the end of every operation.
    var isObserved = false
    /// Where the operations run. A lease of an earlier target chooses nothing any more.
    var target = LeaseTarget.pool
    /// As set by the user: a count, or −1.
    private(set) var limit = OperationQueue.defaultMaxConcurrentOperationCount

    mutating func setLimit(_ newLimit: Int) {
        limit = newLimit
        // Where slots are scarce, the one that comes first of all bands has its turn.
        let merges = !hasDefaultLimit
        ready.setMerged(merges)
        held.visitAll { $0.ready.setMerged(merges) }
    }

    deinit { lastBatch?.release() }

    /// With the default limit the pool decides how much runs at once; this bounds what blocked operations can pile up.
    static let defaultLimit = 64

    private var hasDefaultLimit: Bool { limit == OperationQueue.defaultMaxConcurrentOperationCount }
    var freeSlots: Int { hasDefaultLimit ? Self.defaultLimit - (running - waitingInside) : limit - running }

    /// Whether one more may start, or might if it were added now.
    @inline(__always)
    var isOpen: Bool {
        // What is added behind a barrier cannot start.
        !isSuspended && (freeSlots > 0 || ready.slotlessCount > 0) && (held.isEmpty || ready.count > 0)
    }

    /// How many more workers could run something now, apart from what is in batches; of those `closures` wait.
    func wantedWorkers(closures: Int) -> Int {
        isSuspended ? 0 : max(Int(ready.slotlessCount), min(freeSlots, ready.count + closures))
    }

    /// The bands of workers that have something to start, while the queue is open. With an explicit limit a free slot goes
    /// to the operation that comes first of all, so only its band is called.
    @inline(__always)
    mutating func bandsToCall() -> BandSet {
        guard ready.count > 0 else { return BandSet() }
        guard !hasDefaultLimit, let band = ready.leadingBand() else { return ready.bands }
        return BandSet(band)
    }

    /// Whether nothing executes, and nothing could.
    var isStandingStill: Bool { isNothingExecuting && ready.count == 0 }

    private var isNothingExecuting: Bool { running == 0 && guests.isEmpty && endingSteps == 0 }

    // MARK: Filing

    /// Takes in what came by the inbox.
    @inline(__always)
    mutating func admit(_ item: ReadyItem) {
        switch item.kind {
        case .operation(let operation): operation._withUnsafeGuaranteedRef { admit($0) }
        case .batch(let batch): batch._withUnsafeGuaranteedRef { admit($0) }
        }
    }

    @inline(__always)
    mutating func admit(_ operation: Operation) {
        number(operation)
        place(operation, operation.state.fileFromInbox())
    }

    /// Gives an operation its place in the order of adding.
    @inline(__always)
    mutating func number(_ operation: Operation) {
        operation.sequence = nextSequence
        nextSequence += 1
    }

    /// Takes in a barrier: a segment for it alone, and one for all that comes after. The inbox is empty.
    mutating func admitBarrier(_ barrier: Operation) {
        closeLastBatch()
        held.append(HeldSegment(firstSequence: nextSequence, isMerged: ready.isMerged))
        admit(barrier)
        held.append(HeldSegment(firstSequence: nextSequence, isMerged: ready.isMerged))
    }

    /// Reaches the next segment, and further ones, while nothing is left of the one before. Not while an operation is
    /// between two lists.
    @inline(__always)
    mutating func reachNextSegment() {
        while !held.isEmpty, isNothingExecuting, waiting.isEmpty, ready.count == 0 { takeUpHeldSegment() }
    }

    @inline(never)
    private mutating func takeUpHeldSegment() {
        let next = held.removeFirst()
        swap(&ready, &next.ready)
        swap(&waiting, &next.waiting)
    }

    /// Puts an operation whose phase is `filing` into its list. Called by the thread that made it so. False if the answer
    /// of its overridden `isReady` is out of date: ask again.
    mutating func file(_ operation: Operation, _ answer: Bool?) -> Bool {
        if operation.place.kind == .none {
            if !operation.state.postponeFiling() { endedInFiling.append(.passUnretained(operation)) }
            return true
        }
        let filing = operation.state.finishFiling(answer)
        switch filing {
        case .outdated: return false
        case .ended: endedInFiling.append(.passUnretained(operation))
        case .ready, .waiting, .leftToOther:
            takeOut(operation)
            place(operation, filing)
        }
        return true
    }

    @inline(__always)
    private mutating func place(_ operation: Operation, _ filing: OperationState.Filing) {
        guard case .ready(let word) = filing else { return placeAmongWaiting(operation) }
        let place = readyPlace(of: operation, word)
        if lastBatch != nil, place.level == .normal { closeLastBatch() }
        if operation.sequence >= held.firstSequence { return placeBehindBarrier(ReadyItem(operation), place) }
        ready.append(ReadyItem(operation), as: place)
    }

    @inline(__always)
    func readyPlace(of operation: Operation, _ word: OperationState.Word) -> QueuePlace {
        .ready(operation, word, band: target == .pool ? word.band : .normal)
    }

    private mutating func placeAmongWaiting(_ operation: Operation) {
        operation.place = .waiting
        if operation.sequence >= held.firstSequence {
            held.segment(of: operation.sequence).waiting.append(operation)
        } else {
            waiting.append(operation)
        }
    }

    mutating func takeOut(_ operation: Operation) {
        switch operation.place.kind {
        case .executing: guests.remove(operation)
        case .none: return
        case _ where operation.sequence >= held.firstSequence && operation.place.level != .slotless:
            held.segment(of: operation.sequence).remove(operation)
        case .waiting: waiting.remove(operation)
        case .ready: ready.remove(ReadyItem(operation))
        }
        operation.place = .none
    }

    /// Puts what is ready of a later segment into its list. What takes no slot is not held.
    @inline(never)
    mutating func placeBehindBarrier(_ item: ReadyItem, _ place: QueuePlace) {
        guard place.level == .slotless else {
            return held.segment(of: item.sequence).ready.append(item, as: place)
        }
        if case .operation(let operation) = item.kind {
            operation._withUnsafeGuaranteedRef { if $0.isBarrier { dissolve($0) } }
        }
        ready.append(item, as: place)
    }

    /// A barrier is cancelled that was not reached: those behind it join those before it, at their back.
    private mutating func dissolve(_ barrier: Operation) {
        let (before, behind) = held.dissolve(barrier: barrier.sequence)
        if let before {
            before.ready.append(contentsOf: &behind.ready)
            before.waiting.append(contentsOf: &behind.waiting)
        } else {
            ready.append(contentsOf: &behind.ready)
            waiting.append(contentsOf: &behind.waiting)
        }
    }

    // MARK: Running

    /// Chooses what the holder of a lease starts now, if anything: the best of what is ready at this instant; where slots
    /// are scarce, of all bands (contract G4, G12). It is dispatched, and holds a slot if it takes one. Of a batch that is
    /// the first closure, which goes to `closurePlace`.
    mutating func choose(
        for lease: Lease, closureTo closurePlace: UnsafeMutablePointer<BlockOperation.Block>
    ) -> Choice {
        while let item = first(for: lease) {
            if item.place.level == .slotless, drop(item) { continue }
            // What was dropped may run code of the user when it is released: nothing is chosen before that.
            if !dropped.isEmpty || !hasSlot(for: item) { return .nothing }
            let choice = begin(item, closureTo: closurePlace)
            if !choice.isNothing { return choice }
        }
        return .nothing
    }

    /// As `choose`, of what has normal priority at least: one look, which finds nothing in some cases where `choose` would.
    @inline(__always)
    mutating func chooseNormal(
        for lease: Lease, closureTo closurePlace: UnsafeMutablePointer<BlockOperation.Block>
    ) -> Choice {
        guard ready.hasNormal, ready.slotlessCount == 0, let item = first(for: lease), hasSlot(for: item) else {
            return .nothing
        }
        return begin(item, closureTo: closurePlace)
    }

    /// As filing a readied operation and choosing then, where nothing else is ready. Nothing, with no change, in some cases
    /// where `choose` would find it.
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

    /// What comes first of all that the lease may choose.
    @inline(__always)
    private mutating func first(for lease: Lease) -> ReadyItem? {
        guard !isSuspended, lease.target == target, hasDefaultLimit || ready.leadingBand() == lease.band else {
            return nil
        }
        return ready.first(of: lease.band)
    }

    @inline(__always)
    private func hasSlot(for item: ReadyItem) -> Bool { freeSlots > 0 || item.place.level == .slotless }

    /// Nothing if an operation is not ready any more.
    @inline(__always)
    private mutating func begin(
        _ item: ReadyItem, closureTo closurePlace: UnsafeMutablePointer<BlockOperation.Block>
    ) -> Choice {
        switch item.kind {
        case .batch(let batch): return take(from: batch, into: closurePlace)
        case .operation(let operation):
            return operation._withUnsafeGuaranteedRef { operation in
                let level = operation.place.level
                ready.removeFirst(item)
                if let word = operation.state.dispatch() { return begin(operation, word, level: level) }
                // It has got a dependency since (contract E18), or another thread is about to file it anew.
                operation.state.waitAgain()
                placeAmongWaiting(operation)
                return .nothing
            }
        }
    }

    /// An operation is chosen, dispatched, and in no list.
    @inline(__always)
    private mutating func begin(
        _ operation: Operation, _ word: OperationState.Word, level: PriorityLevel
    ) -> Choice {
        operation.place = QueuePlace(kind: .executing, level: level)
        if level != .slotless { running += 1 }
        let link = Unmanaged.passUnretained(operation)
        if level != .slotless, !word.has(OperationState.Word.isGuest) { return .operation(link) }
        guests.append(operation)
        return .guest(link)
    }

    /// Whether a runner that has given a slot back and taken it again changes nothing for others: the queue stays as open
    /// as it was, and what is ready has called its workers when it became ready.
    @inline(__always)
    var isPlain: Bool { held.isEmpty && ready.isPlain }

    /// An operation that announces its end itself leaves its list, and frees its slot if it has one.
    mutating func withdraw(_ operation: Operation) {
        if operation.place.kind == .executing, operation.place.level != .slotless { running -= 1 }
        takeOut(operation)
    }

    /// Has a chosen guest wait again whose overridden `isReady` says no. False if it has to be asked again.
    mutating func unchoose(_ operation: Operation) -> Bool {
        guard operation.state.unchoose() else { return false }
        withdraw(operation)
        placeAmongWaiting(operation)
        return true
    }

    /// The operations that are not finished, barriers too, with the numbers that give the order of adding; without those
    /// in runners' hands, and closures only as far as they have objects.
    func snapshot() -> [(sequence: UInt64, operation: Operation)] {
        var all: [(sequence: UInt64, operation: Operation)] = []
        func collect(_ operation: Operation) {
            if !operation.state.load().isFinished { all.append((operation.sequence, operation)) }
        }
        guests.visitOperations(collect)
        ready.visitOperations(collect)
        waiting.visitOperations(collect)
        held.visitAll { segment in
            segment.ready.visitOperations(collect)
            segment.waiting.visitOperations(collect)
        }
        return all
    }
}
