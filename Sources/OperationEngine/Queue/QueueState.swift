/// A queue's state machine: which operations the queue holds, and which of them may start. Guarded by the queue's lock.
///
/// **It is deterministic under its lock.** Its methods are the queue's events: an operation is admitted, filed, chosen,
/// withdrawn, cancelled, and so on. An event changes this value and the state words of the operations in its lists. It takes no lock, and
/// calls no runner, observer or user code. What has to follow an event is returned, or left in `dropped` and
/// `endedInFiling`. `QueueCore` does that after it has released the lock. So `QueueStateTests` can try all sequences of
/// events on one thread.
///
/// **Barriers divide the queue into segments.** Each operation gets a number when it is admitted. A barrier is a
/// segment of its own, and opens another one behind it. The lists below hold the operations of the segment that the
/// queue has reached. Operations of later segments are *held*: they are in lists of their segment, whatever their
/// readiness and priority. When nothing of the reached segment is left, the next segment's lists become these, as they
/// are (`reachNextSegment`). So a barrier runs alone and after everything before it, and everything behind it runs
/// later (contract P7).
///
/// There is one exception. A cancelled operation whose `start` is the engine's own finishes without `main`. So it
/// finishes at once, whatever its segment (J4, J5, J9). No one can distinguish it from an operation that was never
/// added, and in a cycle of dependencies across a barrier this releases the other members (E16). A cancelled barrier
/// does not hold anything back either: the operations behind it join those before it (P11).
struct QueueState: ~Copyable {
    /// The ready items of the reached segment, and the cancelled items of all segments that take no slot.
    var ready = ReadyQueue(isMerged: false)
    /// Operations of the reached segment with unfinished dependencies. Choosing never looks at them.
    var waiting = ItemList()
    /// Guests that were chosen and are not finished. Other threads find them here and not in a runner's hand: see
    /// `OperationState.Word.isGuest`.
    var guests = ItemList()
    /// The segments that barriers hold back.
    var held = HeldSegments()
    var nextSequence: UInt64 = 0
    /// Cancelled items that have left their lists and will not run.
    var dropped = DroppedItems()
    /// How many times `QueueCore` is releasing the blocks of dropped items at this moment. A barrier waits for that, as
    /// for the end of everything before it.
    var endingSteps = 0
    /// Operations that announced their own end while they were being filed. To be withdrawn without the lock.
    var endedInFiling: [Unmanaged<Operation>] = []

    /// Slots in use: by what runners have in hand, by what they have ended and not yet given back, and by guests.
    var running = 0
    /// How many of these slots belong to operations inside an engine wait. With the default limit they do not count.
    var waitingInside = 0
    var isSuspended = false
    /// Whether the queue has, or had, observers. They are notified of the end of every operation.
    var isObserved = false
    /// The target on which the operations run. A lease for an earlier target chooses nothing.
    var target = LeaseTarget.pool
    var tally = QueueTally()
    /// As set by the user: a count, or −1 for the default.
    private(set) var limit = Self.defaultLimit
    static let defaultLimit = -1

    mutating func setLimit(_ newLimit: Int) {
        limit = newLimit
        // With an explicit limit, a free slot goes to the first item of all bands.
        let merges = !hasDefaultLimit
        ready.setMerged(merges)
        held.visitAll { $0.ready.setMerged(merges) }
    }

    /// With the default limit the pool decides how much runs at once. This number bounds how many blocked operations
    /// can pile up. On larger machines each processor has one.
    private let defaultSlots: Int
    static let leastDefaultSlots = 64

    init(processors: Int = Processors.workers) { defaultSlots = max(Self.leastDefaultSlots, processors) }

    var hasDefaultLimit: Bool { limit == Self.defaultLimit }
    var freeSlots: Int { hasDefaultLimit ? defaultSlots - (running - waitingInside) : limit - running }

    /// Whether an operation may start now, or could start if it were added now.
    @inline(__always)
    var isOpen: Bool {
        // An operation that is added behind a barrier cannot start.
        !isSuspended && (freeSlots > 0 || ready.slotlessCount > 0) && (held.isEmpty || ready.count > 0)
    }

    /// How many more workers could run something now.
    var wantedWorkers: Int { isSuspended ? 0 : max(Int(ready.slotlessCount), min(freeSlots, ready.count)) }

    /// The bands whose workers have something to start, if the queue is open. With an explicit limit a free slot goes
    /// to the first operation of all, so only its band is called.
    @inline(__always)
    mutating func bandsToCall() -> BandSet {
        guard ready.count > 0 else { return BandSet() }
        guard !hasDefaultLimit, let band = ready.leadingBand() else { return ready.bands }
        return BandSet(band)
    }

    /// Whether nothing executes and nothing is ready.
    var isStandingStill: Bool { isNothingExecuting && ready.count == 0 }

    private var isNothingExecuting: Bool { running == 0 && guests.isEmpty && endingSteps == 0 }

    // MARK: Filing

    /// Admits an item from the inbox.
    @inline(__always)
    mutating func admit(_ item: QueueItem.Pointer) {
        number(item)
        if item.isClosure { return list(item, as: .readyClosure) }
        item.operation._withUnsafeGuaranteedRef { place($0, $0.state.admit()) }
    }

    /// Gives an item its number in the order of adding.
    @inline(__always)
    mutating func number(_ item: QueueItem.Pointer) {
        item.pointee.sequence = nextSequence
        nextSequence += 1
    }

    /// Admits a barrier: a segment for it alone, and one for everything after it. The caller has emptied the inbox.
    mutating func admitBarrier(_ barrier: Operation) {
        held.append(HeldSegment(firstSequence: nextSequence, isMerged: ready.isMerged))
        admit(barrier.asItem)
        held.append(HeldSegment(firstSequence: nextSequence, isMerged: ready.isMerged))
    }

    /// Advances to the next segment while nothing is left of the reached one. Not while an operation is between two
    /// lists.
    @inline(__always)
    mutating func reachNextSegment() {
        while !held.isEmpty, isNothingExecuting, waiting.isEmpty, ready.count == 0 { reachHeldSegment() }
    }

    @inline(never)
    private mutating func reachHeldSegment() {
        let next = held.removeFirst()
        swap(&ready, &next.ready)
        swap(&waiting, &next.waiting)
    }

    /// Puts an operation whose phase is `filing` into its list. Called by the thread that brought it into that phase.
    /// Returns false if the answer of its overridden `isReady` is out of date; then the caller asks again.
    mutating func file(_ operation: Operation, _ answer: Bool?) -> Bool {
        let filing = operation.state.finishFiling(answer)
        switch filing {
        case .outdated: return false
        case .ended: endedInFiling.append(.passUnretained(operation))
        case .ready, .waiting:
            // In no list: it is about to be pushed into the inbox, and its list is found when it is taken from there.
            if operation.place.kind == .none { return true }
            unlist(operation.asItem)
            place(operation, filing)
        }
        return true
    }

    @inline(__always)
    private mutating func place(_ operation: Operation, _ filing: OperationState.Filing) {
        guard case .ready(let word) = filing else { return placeAmongWaiting(operation) }
        list(operation.asItem, as: readyPlace(of: operation, word))
    }

    /// Puts an item into the ready list of its segment.
    @inline(__always)
    private mutating func list(_ item: QueueItem.Pointer, as place: ListPlace) {
        if item.pointee.sequence >= held.firstSequence { return placeBehindBarrier(item, place) }
        ready.append(item, as: place)
    }

    /// The place of a ready operation.
    @inline(__always)
    func readyPlace(of operation: Operation, _ word: OperationState.Word) -> ListPlace {
        let isSlotless = word.isCancelled && !MethodOverride.start.isPresent(in: operation)
        let band = target == .pool ? word.band : .normal
        return ListPlace(kind: .ready, level: isSlotless ? .slotless : word.level, band: band)
    }

    mutating func placeAmongWaiting(_ operation: Operation) {
        operation.place = .waiting
        if operation.sequence >= held.firstSequence {
            held.segment(of: operation.sequence).waiting.append(operation)
        } else {
            waiting.append(operation)
        }
    }

    mutating func unlist(_ item: QueueItem.Pointer) {
        switch item.pointee.place.kind {
        case .chosen, .chosenCancelled: guests.remove(item)
        case .none: return
        case _ where item.pointee.sequence >= held.firstSequence && item.pointee.place.level != .slotless:
            held.segment(of: item.pointee.sequence).remove(item)
        case .waiting: waiting.remove(item)
        case .ready: ready.remove(item)
        }
        item.pointee.place = .none
    }

    /// Puts a ready item of a later segment into that segment's list. An item that takes no slot is not held.
    @inline(never)
    mutating func placeBehindBarrier(_ item: QueueItem.Pointer, _ place: ListPlace) {
        guard place.level == .slotless else {
            return held.segment(of: item.pointee.sequence).ready.append(item, as: place)
        }
        if !item.isClosure { item.operation._withUnsafeGuaranteedRef { if $0.isBarrier { dissolve($0) } } }
        ready.append(item, as: place)
    }

    /// A barrier was cancelled before it was reached. What is behind it joins what is before it, at the back.
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

    // MARK: Listing

    /// Makes objects for all closures that no runner has taken. Each is an operation like any other from here on, at its
    /// place in the order.
    mutating func makeObjects(of queue: QueueCore) {
        ready.makeObjects(of: queue)
        held.visitAll { $0.ready.makeObjects(of: queue) }
    }

    /// Visits the items in the lists: guests, what is ready, what waits, and what barriers hold back, with its segment.
    /// Where `body` says no, the rest of that list is left out; among what is held, everything that follows.
    @inline(__always)
    func visit(_ body: (QueueItem.Pointer, _ segment: HeldSegment?) -> Bool) {
        guests.visit { body($0, nil) }
        ready.visit { body($0, nil) }
        waiting.visit { body($0, nil) }
        held.visit { segment in
            segment.ready.visit { body($0, segment) } && segment.waiting.visit { body($0, segment) }
        }
    }
}

extension ReadyQueue {
    /// Replaces each closure by an object.
    fileprivate mutating func makeObjects(of queue: QueueCore) {
        var closures: [QueueItem.Pointer] = []
        visitAll { if $0.isClosure { closures.append($0) } }
        var places = Slab<WaitingClosure>.Places()
        for item in closures {
            let block = item.closure.pointee.block.take().unsafelyUnwrapped
            let operation = BlockOperation(block, in: queue, for: item.closure)
            operation.state.enterReady(isCancelled: item.pointee.place.level == .slotless)
            insert(Unmanaged.passRetained(operation).takeUnretainedValue().asItem, before: item)
            remove(item)
            item.closure.free(into: &places)
        }
    }
}
