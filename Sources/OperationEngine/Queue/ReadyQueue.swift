/// The ready items of a queue, by band of worker threads and by priority level. First in, first out within each level.
///
/// If slots are scarce, the next item does not depend on the band. Then the lists are *merged*: a level's list holds
/// the items of all bands, in the order in which they became ready (contract G6, G10).
///
/// Pure data, guarded by the queue's lock. Nothing here ever looks at what is not ready.
struct ReadyQueue: ~Copyable {
    /// One band's lists, one a level, and which of them hold something.
    struct Levels {
        private var lists: [6 of ItemList] = .init(repeating: ItemList())
        private var occupied: UInt8 = 0

        var isEmpty: Bool { occupied == 0 }
        /// Whether a level from normal priority on has an item.
        @inline(__always) var hasNormal: Bool { occupied >> PriorityLevel.normal.rawValue != 0 }
        /// The highest level with an item.
        @inline(__always) var highest: Int { 7 - occupied.leadingZeroBitCount }
        /// Changes nothing. It is `mutating` because any other method is given a copy of the lists.
        @inline(__always)
        mutating func findFirst() -> QueueItem.Pointer? { occupied == 0 ? nil : lists[highest].first }

        @inline(__always)
        mutating func append(_ item: QueueItem.Pointer, level: PriorityLevel) {
            lists[Int(level.rawValue)].append(item)
            occupied |= 1 << level.rawValue
        }

        mutating func insert(_ item: QueueItem.Pointer, before place: QueueItem.Pointer, level: PriorityLevel) {
            lists[Int(level.rawValue)].insert(item, before: place)
        }

        @inline(__always)
        mutating func remove(_ item: QueueItem.Pointer, level: PriorityLevel) {
            lists[Int(level.rawValue)].remove(item)
            if lists[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
        }

        @inline(__always)
        mutating func removeFirst(_ item: QueueItem.Pointer, level: PriorityLevel) {
            if !lists[Int(level.rawValue)].removeFirst(item) { occupied &= ~(1 << level.rawValue) }
        }

        /// Appends all of another band's items, each at the back of its level.
        mutating func append(contentsOf other: inout Levels) {
            for level in lists.indices { lists[level].append(contentsOf: &other.lists[level]) }
            occupied |= other.occupied
            other.occupied = 0
        }

        /// As `ReadyQueue.visit`.
        func visit(_ body: (QueueItem.Pointer) -> Bool) -> Bool {
            lists.indices.reversed().allSatisfy { lists[$0].visit(body) }
        }

        func visitFronts(_ body: (QueueItem.Pointer) -> Void) {
            for level in lists.indices { lists[level].first.map(body) }
        }
    }

    /// Most queues use this band alone. If merged, it holds the items of all bands.
    private var normal = Levels()
    /// Empty until another band is used. Then it has all nine bands; the normal band's place stays empty.
    private var others: [Levels] = []
    private(set) var isMerged: Bool
    private(set) var count = 0
    /// How many items take no slot.
    private(set) var slotlessCount: Int32 = 0
    /// If merged: how many items in the normal band's lists belong to other bands.
    private var foreignCount: Int32 = 0
    /// The bands whose lists hold something.
    private(set) var bands = BandSet()

    init(isMerged: Bool) { self.isMerged = isMerged }

    @inline(__always)
    mutating func append(_ item: QueueItem.Pointer, as place: ListPlace) {
        if place.band == .normal {
            normal.append(item, level: place.level)
            return note(item, as: place)
        }
        withLevels(place.band) { $0.append(item, level: place.level) }
        note(item, as: place)
    }

    /// Inserts an item right before another one, in the same list.
    mutating func insert(_ item: QueueItem.Pointer, before other: QueueItem.Pointer) {
        let place = other.pointee.place
        withLevels(place.band) { $0.insert(item, before: other, level: place.level) }
        note(item, as: place)
    }

    @inline(__always)
    private mutating func note(_ item: QueueItem.Pointer, as place: ListPlace) {
        item.pointee.place = place
        count += 1
        if place.level == .slotless { slotlessCount += 1 }
        if place.band == .normal || !isMerged { return bands.insert(place.band) }
        bands.insert(.normal)
        foreignCount += 1
    }

    /// Removes an item from the list that its `place` names.
    mutating func remove(_ item: QueueItem.Pointer) {
        let place = item.pointee.place
        let isBandEmpty = withLevels(place.band) { levels -> Bool in
            levels.remove(item, level: place.level)
            return levels.isEmpty
        }
        if isBandEmpty { bands.remove(isMerged ? .normal : place.band) }
        item.pointee.place = .none
        count -= 1
        if place.level == .slotless { slotlessCount -= 1 }
        if isMerged, place.band != .normal { foreignCount -= 1 }
    }

    /// As `remove`, for the item that `first(of:)` returned.
    @inline(__always)
    mutating func removeFirst(_ item: QueueItem.Pointer) {
        let place = item.pointee.place
        if place.band != .normal { return remove(item) }
        normal.removeFirst(item, level: place.level)
        if normal.isEmpty { bands.remove(.normal) }
        count -= 1
        if place.level == .slotless { slotlessCount -= 1 }
    }

    /// Appends all items of another queue, each at the back of its level. The other queue is merged if this one is. In
    /// constant time.
    mutating func append(contentsOf other: inout ReadyQueue) {
        for band in other.bands {
            var levels = other.levels(of: band)
            withLevels(band) { $0.append(contentsOf: &levels) }
            bands.insert(band)
        }
        count += other.count
        slotlessCount += other.slotlessCount
        foreignCount += other.foreignCount
        other = ReadyQueue(isMerged: other.isMerged)
    }

    /// Merges the lists, or separates them. In constant time if only the normal band is in use. When lists are merged,
    /// it is not known in which order items of different bands became ready. They follow the order of adding.
    mutating func setMerged(_ merges: Bool) {
        if merges == isMerged { return }
        var all: [QueueItem.Pointer] = []
        if foreignCount > 0 || !others.isEmpty { visitAll { all.append($0) } }
        // By sequence if the bands were separate, in the present order if they were merged.
        if merges { all.sort { $0.pointee.sequence < $1.pointee.sequence } }
        let places = all.map(\.pointee.place)
        for item in all { remove(item) }
        isMerged = merges
        for (item, place) in zip(all, places) { append(item, as: place) }
    }

    /// The next item of a band. If merged, of the leading band.
    @inline(__always)
    mutating func first(of band: NiceBand) -> QueueItem.Pointer? {
        band == .normal || isMerged ? normal.findFirst() : firstOfOther(band)
    }

    @inline(never)
    private mutating func firstOfOther(_ band: NiceBand) -> QueueItem.Pointer? { withLevels(band) { $0.findFirst() } }

    /// Whether an item of the normal band has normal priority or more. If merged, an item of any band.
    @inline(__always)
    var hasNormal: Bool { normal.hasNormal }

    /// Whether every item is of the normal band and takes a slot.
    @inline(__always)
    var isPlain: Bool { bands.bits & ~BandSet(.normal).bits == 0 && foreignCount == 0 && slotlessCount == 0 }

    /// If merged: the band of the item that goes first of all. Nil if there is none.
    @inline(__always)
    mutating func leadingBand() -> NiceBand? {
        if foreignCount == 0 { return bands.isEmpty ? nil : .normal }
        return normal.findFirst()?.pointee.place.band
    }

    /// Visits the items of each band in the order in which they may start, as long as `body` says true. Returns what it
    /// said last, or true.
    @discardableResult
    func visit(_ body: (QueueItem.Pointer) -> Bool) -> Bool { bands.allSatisfy { levels(of: $0).visit(body) } }

    func visitAll(_ body: (QueueItem.Pointer) -> Void) {
        visit {
            body($0)
            return true
        }
    }

    /// Whether items of a higher level go before an item at that place.
    func isBehindOthers(_ place: ListPlace) -> Bool {
        place.level.rawValue < levels(of: isMerged ? .normal : place.band).highest
    }

    /// Visits the first item of each list.
    func visitFronts(_ body: (QueueItem.Pointer) -> Void) {
        for band in bands { levels(of: band).visitFronts(body) }
    }

    private func levels(of band: NiceBand) -> Levels {
        band == .normal ? normal : others.isEmpty ? Levels() : others[band.index]
    }

    private mutating func withLevels<Result>(_ band: NiceBand, _ body: (inout Levels) -> Result) -> Result {
        if band == .normal || isMerged { return body(&normal) }
        if others.isEmpty { others = Array(repeating: Levels(), count: NiceBand.count) }
        return body(&others[band.index])
    }
}
