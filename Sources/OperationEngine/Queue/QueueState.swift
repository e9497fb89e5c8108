/// A queue's state machine: which operations it holds, and which may start. Guarded by the queue's lock.
///
/// It calls nothing outside: the methods return what to do after the lock is released.
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
    var waiting = OperationList()
    /// Chosen, not finished, and in no runner's hand: see `OperationState.Word.isGuest`.
    var guests = OperationList()
    /// The segments that barriers hold back.
    var held = HeldSegments()
    var nextSequence: UInt64 = 0
    /// The run of closures that was taken in last, until something comes behind it; retained. In its list while it has
    /// closures, set aside here alone while it has none.
    var lastRun: Unmanaged<ClosureRun>?
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

    deinit { lastRun?.release() }

    /// With the default limit the pool decides how much runs at once; this bounds what blocked operations can pile up.
    static let defaultLimit = 64

    private var hasDefaultLimit: Bool { limit == OperationQueue.defaultMaxConcurrentOperationCount }
    var freeSlots: Int { hasDefaultLimit ? Self.defaultLimit - (running - waitingInside) : limit - running }

    /// Whether one more operation may start, or might if it were added now.
    @inline(__always)
    var isOpen: Bool {
        // What is added behind a barrier cannot start.
        !isSuspended && (freeSlots > 0 || ready.slotlessCount > 0) && (held.isEmpty || ready.count > 0)
    }

    /// How many more workers could run something now, apart from what is in runs of closures; of those `closures` wait.
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

    /// Takes in an operation from the inbox.
    @inline(__always)
    mutating func admit(_ operation: Operation) {
        if operation.isClosureRun { return admitRun(unsafeDowncast(operation, to: ClosureRun.self)) }
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
        closeLastRun()
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
        if lastRun != nil, place.level == .normal { closeLastRun() }
        if operation.sequence >= held.firstSequence { return placeBehindBarrier(operation, place) }
        ready.append(operation, as: place)
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
        case .ready: ready.remove(operation)
        }
        operation.place = .none
    }

    /// Puts a ready operation of a later segment into its list. One that takes no slot is not held.
    @inline(never)
    mutating func placeBehindBarrier(_ operation: Operation, _ place: QueuePlace) {
        guard place.level == .slotless else {
            return held.segment(of: operation.sequence).ready.append(operation, as: place)
        }
        if operation.isBarrier { dissolve(operation) }
        ready.append(operation, as: place)
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

    /// Chooses what the holder of a lease starts now, if anything. It is dispatched and holds a slot. Of a batch of closures
    /// that is the first, which goes to `place`.
    mutating func choose(for lease: Lease, closureTo place: UnsafeMutablePointer<BlockOperation.Block>) -> Choice {
        guard isOpen, lease.target == target else { return .nothing }
        let band = lease.band
        // Contract G4, G12: the best ready operation at this instant. Where slots are scarce, the best of all bands.
        while hasDefaultLimit || ready.leadingBand() == band, let reference = ready.first(of: band) {
            let level = reference._withUnsafeGuaranteedRef { $0.place.level }
            if level == .slotless, isDroppable(reference), drop(reference) { continue }
            // What was dropped may run code of the user when it is released: nothing is chosen before that.
            if !dropped.isEmpty || level != .slotless && freeSlots <= 0 { return .nothing }
            if let run = ClosureRun.from(reference) { return take(from: run, into: place) }
            let choice = reference._withUnsafeGuaranteedRef { operation in
                ready.removeFirst(operation)
                guard let word = operation.state.dispatch() else {
                    // It has got a dependency since (contract E18), or another thread is about to file it anew.
                    operation.state.waitAgain()
                    placeAmongWaiting(operation)
                    return Choice.nothing
                }
                return begin(operation, word, level: level)
            }
            if !choice.isNothing { return choice }
        }
        return .nothing
    }

    /// The usual case of `choose`, for a runner that has just given a slot back: takes it again for the operation that
    /// `choose` would have chosen. Neither does the queue open or close by that, nor is there more to do for other
    /// runners than before: who made it visible has called them. Nothing if it is not as simple, or of a lower level.
    @inline(__always)
    mutating func chooseNext(
        for lease: Lease, from leastLevel: PriorityLevel = .lowest,
        closureTo place: UnsafeMutablePointer<BlockOperation.Block>
    ) -> Choice {
        guard !isSuspended, held.isEmpty, lease.target == target, lease.band == .normal,
            let first = ready.firstOfNormal()
        else { return .nothing }
        guard ready.slotlessCount == 0, freeSlots > 0 else { return .nothing }
        if let run = ClosureRun.from(first) { return take(from: run, into: place) }
        return first._withUnsafeGuaranteedRef { operation in
            let level = operation.place.level
            guard level.rawValue >= leastLevel.rawValue, let word = operation.state.dispatch() else { return .nothing }
            ready.removeFirst(operation)
            return begin(operation, word, level: level)
        }
    }

    /// As `chooseNext`, for the only operation that was made ready by the one whose slot it was, and that is not filed:
    /// if nothing else is ready, it is what would be chosen. Nothing, with no change, if it is not as simple.
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

    /// An operation is chosen, and in no list.
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

    /// An operation that announces its end itself leaves its list, and frees its slot if it has one.
    mutating func retire(_ operation: Operation) {
        if operation.place.kind == .executing, operation.place.level != .slotless { running -= 1 }
        takeOut(operation)
    }

    /// Takes a guest back whose overridden `isReady` says no. False if it has to be asked again.
    mutating func takeBack(_ operation: Operation) -> Bool {
        guard operation.state.giveBack() else { return false }
        retire(operation)
        placeAmongWaiting(operation)
        return true
    }

    /// The operations that are not finished, barriers too, with the numbers that give the order of adding; without those
    /// in runners' hands, and closures only as far as they have objects.
    func snapshot() -> [(sequence: UInt64, operation: Operation)] {
        var all: [(sequence: UInt64, operation: Operation)] = []
        func collect(_ operation: Operation) {
            if operation.state.load().isFinished || operation.isClosureRun { return }
            all.append((operation.sequence, operation))
        }
        guests.forEach(collect)
        ready.forEach(collect)
        waiting.forEach(collect)
        held.visitAll { segment in
            segment.ready.forEach(collect)
            segment.waiting.forEach(collect)
        }
        return all
    }
}
