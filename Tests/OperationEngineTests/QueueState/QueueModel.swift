/// A naive model of a queue with a few items, with which `QueueState` is compared.
///
/// It looks at all items each time, in the order of adding, and keeps no list.
struct QueueModel: Hashable {
    /// The kinds of items that can be added.
    enum Kind: Hashable {
        /// Normal priority; after the items with these numbers.
        case operation(after: [Int])
        case high
        case low
        /// One whose class overrides `start`, and that leaves by itself.
        case guest
        case closure
        case barrier
    }

    struct Item: Hashable {
        let kind: Kind
        /// Its place in the order of adding; nil before.
        var added: Int?
        /// Its place in the order of becoming ready, which decides among items of one level (contract G6, G10).
        var turn: Int?
        var level: Int
        var isCancelled = false
        /// It has got a dependency since it was made, which is not finished (contract E18).
        var isObstructed = false
        var isRunning = false
        /// While it runs.
        var hasSlot = false
        var isFinished = false
        /// For a barrier: nothing was left before it.
        var isReached = false
        /// For a barrier that was reached: it is finished, and nothing was running.
        var isPassed = false

        var isPending: Bool { added != nil && !isRunning && !isFinished }
        /// A cancelled one whose `start` is the engine's own takes no slot (contract J9).
        var takesSlot: Bool { !isCancelled || kind == .guest }
    }

    var items: [Item]
    var isSuspended = false
    var limit = 64
    private var clock = 0

    init(_ kinds: [Kind]) {
        items = kinds.map { kind in
            switch kind {
            case .high: Item(kind: kind, level: 3)
            case .low: Item(kind: kind, level: 1)
            default: Item(kind: kind, level: 2)
            }
        }
    }

    private mutating func tick() -> Int {
        clock += 1
        return clock
    }

    // MARK: What may start

    var runningCount: Int { items.count(where: \.hasSlot) }

    private func isReady(_ item: Item) -> Bool {
        guard item.isPending else { return false }
        if item.isCancelled { return true }
        if item.isObstructed { return false }
        guard case .operation(let dependencies) = item.kind else { return true }
        return dependencies.allSatisfy { items[$0].isFinished }
    }

    /// Whether a barrier holds the item back (contract P7, P11).
    private func isHeld(_ item: Item) -> Bool {
        guard let added = item.added else { return false }
        if item.kind == .barrier, !item.isReached { return true }
        return items.contains { other in
            guard other.kind == .barrier, let place = other.added, place < added, !other.isPassed else { return false }
            // A cancelled one that was not reached holds nobody.
            return other.isReached || !other.isCancelled
        }
    }

    /// The next of the items that take no slot: they go first, and from behind barriers too.
    private var nextWithoutSlot: Int? {
        let ready = items.indices.filter { isReady(items[$0]) && !items[$0].takesSlot }
        return ready.min { items[$0].turn! < items[$1].turn! }
    }

    private var nextWithSlot: Int? {
        let ready = items.indices.filter { isReady(items[$0]) && items[$0].takesSlot && !isHeld(items[$0]) }
        return ready.min { (-items[$0].level, items[$0].turn!) < (-items[$1].level, items[$1].turn!) }
    }

    /// Whether something is to be started, or left out, now.
    var hasNext: Bool {
        !isSuspended && (nextWithoutSlot != nil || runningCount < limit && nextWithSlot != nil)
    }

    // MARK: Events

    mutating func add(_ index: Int) {
        items[index].added = tick()
        noteReadiness()
    }

    /// Chooses the item that starts now. Cancelled operations and closures before it end without having been started.
    mutating func choose() -> Int? {
        if isSuspended { return nil }
        while let index = nextWithoutSlot {
            if items[index].kind == .barrier { return begin(index) }
            finish(index)
        }
        guard runningCount < limit, let index = nextWithSlot else { return nil }
        return begin(index)
    }

    private mutating func begin(_ index: Int) -> Int {
        items[index].isRunning = true
        items[index].hasSlot = items[index].takesSlot
        return index
    }

    mutating func finish(_ index: Int) {
        items[index].isRunning = false
        items[index].hasSlot = false
        items[index].isFinished = true
        noteReadiness()
    }

    mutating func cancel(_ index: Int) {
        guard items[index].added != nil, !items[index].isFinished, !items[index].isCancelled else { return }
        let wasReady = isReady(items[index])
        items[index].isCancelled = true
        guard items[index].isPending else { return }
        // It is filed again if that means another list.
        if !items[index].takesSlot || !wasReady { items[index].turn = tick() }
        if items[index].kind == .barrier, !items[index].isReached { joinThoseBehind(index) }
    }

    /// Moves the items behind a cancelled barrier behind those before it.
    private mutating func joinThoseBehind(_ barrier: Int) {
        let place = items[barrier].added!
        let next = items.filter { $0.kind == .barrier && !$0.isFinished && $0.added ?? 0 > place }.map { $0.added! }
            .min()
        let behind = items.indices.filter { index in
            guard let added = items[index].added, items[index].isPending, items[index].takesSlot else { return false }
            return added > place && added < next ?? .max && isReady(items[index])
        }
        for index in behind.sorted(by: { items[$0].turn! < items[$1].turn! }) { items[index].turn = tick() }
        noteReadiness()
    }

    /// Contract J10: what the queue need not call goes first, then the others, and the barriers last.
    mutating func cancelAll() {
        let all = items.indices.filter { items[$0].added != nil }.sorted { items[$0].added! < items[$1].added! }
        let isCalled = all.filter { index in
            let item = items[index]
            return item.kind == .guest || item.kind != .closure && isHeld(item)
        }
        for index in all where !isCalled.contains(index) && items[index].kind != .barrier { cancel(index) }
        for index in isCalled where items[index].kind != .barrier { cancel(index) }
        for index in all where items[index].kind == .barrier { cancel(index) }
    }

    mutating func setLevel(_ index: Int, _ level: Int) {
        guard items[index].level != level else { return }
        items[index].level = level
        if items[index].isPending, items[index].turn != nil { items[index].turn = tick() }
    }

    /// The item gets a dependency.
    mutating func obstruct(_ index: Int) {
        items[index].isObstructed = true
        if items[index].isPending, !items[index].isCancelled { items[index].turn = nil }
    }

    /// The item loses it.
    mutating func free(_ index: Int) {
        items[index].isObstructed = false
        noteReadiness()
    }

    /// An item that becomes ready has its turn from now on; a barrier with nothing left before it is reached.
    private mutating func noteReadiness() {
        for index in items.indices where items[index].turn == nil && isReady(items[index]) {
            items[index].turn = tick()
        }
        for index in items.indices where items[index].kind == .barrier && items[index].added != nil {
            let isAnyBefore = items.contains { $0.added ?? .max < items[index].added! && !$0.isFinished }
            let isAnythingGoingOn = items.contains(where: \.isRunning) || nextWithoutSlot != nil
            guard !isAnyBefore, !isAnythingGoingOn else { continue }
            if items[index].isFinished { items[index].isPassed = true } else { items[index].isReached = true }
        }
    }
}
