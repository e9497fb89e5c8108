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
    var ready = ReadyQueue()
    /// Of the reached segment, operations with unfinished dependencies. Never searched, only linked and unlinked.
    var waiting = OperationList()
    var executing = OperationList()
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
    /// The runners that run closures, or did since they took up their leases.
    var closureRunners = RunnerList()
    /// Closures that are taken and not ended.
    var runningClosures = 0

    /// Slots in use: operations chosen and not yet finished.
    var running = 0
    /// How many of them wait inside an engine wait; with the default limit they take no slot.
    var waitingInside = 0
    var isSuspended = false
    /// Where the operations run. A lease of an earlier target chooses nothing any more.
    var target = LeaseTarget.pool
    /// As set by the user: a count, or −1.
    var limit = OperationQueue.defaultMaxConcurrentOperationCount

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
        isSuspended ? 0 : max(ready.slotlessCount, min(freeSlots, ready.count + closures))
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

    private var isNothingExecuting: Bool { executing.isEmpty && runningClosures == 0 && endingSteps == 0 }

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
        held.append(HeldSegment(firstSequence: nextSequence))
        admit(barrier)
        held.append(HeldSegment(firstSequence: nextSequence))
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

    /// How the filing of an operation went.
    enum FilingEnd {
        case filed
        /// The answer of its overridden `isReady` is out of date: ask again.
        case outdated
        /// The operation has announced its end meanwhile: it is to be withdrawn, without the lock.
        case ended
    }

    /// Puts an operation whose phase is `filing` into its list. Called by the thread that made it so.
    mutating func file(_ operation: Operation, _ answer: Bool?) -> FilingEnd {
        if operation.place.kind == .none { return operation.state.postponeFiling() ? .filed : .ended }
        let filing = operation.state.finishFiling(answer)
        switch filing {
        case .outdated: return .outdated
        case .ended: return .ended
        case .ready, .waiting, .leftToOther: break
        }
        takeOut(operation)
        place(operation, filing)
        return .filed
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
        case .executing: executing.remove(operation)
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

    /// Chooses the operation that a runner starts now, if any. It is dispatched and holds a slot. For a run of closures
    /// the runner gets one of them in its hands.
    mutating func choose(for runner: Runner) -> Unmanaged<Operation>? {
        guard isOpen, runner.lease.target == target else { return nil }
        let band = runner.lease.band
        // Contract G4, G12: the best ready operation at this instant. Where slots are scarce, the best of all bands.
        while hasDefaultLimit || ready.leadingBand() == band, let reference = ready.first(of: band) {
            let level = reference._withUnsafeGuaranteedRef { $0.place.level }
            if level == .slotless, isDroppable(reference) {
                // What the runner has to release comes first: it may run code of the user that waits for all of this.
                if runner.postponesDropping() { return nil }
                if drop(reference) { continue }
            }
            // What was dropped may run code of the user when it is released: nothing is chosen before that.
            if !dropped.isEmpty || level != .slotless && freeSlots <= 0 { return nil }
            if let run = ClosureRun.from(reference) {
                take(from: run, for: runner)
                return reference
            }
            let isChosen = reference._withUnsafeGuaranteedRef { operation in
                ready.removeFirst(operation)
                guard operation.state.dispatch() else {
                    // It has got a dependency since (contract E18), or another thread is about to file it anew.
                    operation.state.waitAgain()
                    placeAmongWaiting(operation)
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

    /// The usual case of `choose`, for a runner that has just given a slot back: takes it again for the operation that
    /// `choose` would have chosen. Neither does the queue open or close by that, nor is there more to do for other
    /// runners than before: who made it visible has called them. Nil if it is not as simple, or of a lower level.
    @inline(__always)
    mutating func chooseNext(for runner: Runner, from leastLevel: PriorityLevel = .lowest) -> Unmanaged<Operation>? {
        guard !isSuspended, held.isEmpty, runner.lease.target == target, runner.lease.band == .normal,
            let first = ready.firstOfNormal
        else { return nil }
        guard ready.slotlessCount == 0, freeSlots > 0 else { return nil }
        if let run = ClosureRun.from(first) {
            take(from: run, for: runner)
            return first
        }
        return first._withUnsafeGuaranteedRef { operation in
            let level = operation.place.level
            guard level.rawValue >= leastLevel.rawValue, operation.state.dispatch() else { return nil }
            ready.removeFirst(operation)
            operation.place = QueuePlace(kind: .executing, level: level)
            executing.append(operation)
            running += 1
            return first
        }
    }

    /// As `chooseNext`, for the only operation that was made ready by the one whose slot it was, and that is not filed:
    /// if nothing else is ready, it is what would be chosen. False, with no change, if it is not as simple.
    @inline(__always)
    mutating func chooseReadied(_ readied: Unmanaged<Operation>, for runner: Runner) -> Bool {
        guard ready.count == 0, !isSuspended, freeSlots > 0, held.isEmpty, runner.lease.target == target,
            runner.lease.band == .normal
        else { return false }
        return readied._withUnsafeGuaranteedRef { operation in
            guard operation.place.kind == .waiting, let word = operation.state.dispatchUnfiled() else { return false }
            waiting.remove(operation)
            operation.place = QueuePlace(kind: .executing, level: word.level)
            executing.append(operation)
            running += 1
            return true
        }
    }

    /// A chosen operation is finished: its slot is free. Or one that has finished before it was chosen goes.
    @inline(__always)
    mutating func retire(_ operation: Operation) {
        if operation.place.kind != .executing { return takeOut(operation) }
        if operation.place.level != .slotless { running -= 1 }
        executing.remove(operation)
        operation.place = .none
    }

    /// Takes a chosen operation back whose overridden `isReady` says no. False if it has to be asked again.
    mutating func takeBack(_ operation: Operation) -> Bool {
        guard operation.state.giveBack() else { return false }
        retire(operation)
        placeAmongWaiting(operation)
        return true
    }

    /// Takes a chosen operation back that was not started: it goes before the others of its level, as it did when it was
    /// chosen. Whatever has been chosen is held by no barrier. False if it has finished by its own account meanwhile.
    mutating func putBack(_ operation: Operation) -> Bool {
        guard let word = operation.state.putBack() else { return false }
        retire(operation)
        ready.prepend(operation, as: readyPlace(of: operation, word))
        return true
    }

    /// The operations that are not finished, and of which `isAsked` is true, with the numbers that give the order of adding;
    /// closures only as far as they have objects.
    func snapshot(where isAsked: (Operation) -> Bool) -> [(sequence: UInt64, operation: Operation)] {
        var all: [(sequence: UInt64, operation: Operation)] = []
        func collect(_ operation: Operation) {
            if operation.state.load().isFinished || operation.isClosureRun || !isAsked(operation) { return }
            all.append((operation.sequence, operation))
        }
        executing.forEach(collect)
        ready.forEach(collect)
        waiting.forEach(collect)
        held.visitAll { segment in
            segment.ready.forEach(collect)
            segment.waiting.forEach(collect)
        }
        return all
    }
}
