/// The ready operations of a queue, by band of worker threads and priority level; first in, first out within each.
///
/// Where slots are scarce, who comes first does not depend on the band (contract G6, G10): then the lists are *merged*,
/// and hold the operations of all bands of a level in the order in which they became ready.
///
/// Pure data, guarded by the queue's lock. Nothing here ever looks at an operation that is not ready.
struct ReadyQueue: ~Copyable {
    /// One band's lists, one a level, and which of them hold something.
    struct Levels {
        private var lists: [6 of OperationList] = .init(repeating: OperationList())
        private var occupied: UInt8 = 0

        var isEmpty: Bool { occupied == 0 }
        /// The highest level with an operation.
        @inline(__always) var highest: Int { 7 - occupied.leadingZeroBitCount }
        /// Changes nothing: but a method that does not say `mutating` is given a copy of the lists.
        @inline(__always)
        mutating func findFirst() -> Unmanaged<Operation>? { occupied == 0 ? nil : lists[highest].first }

        @inline(__always)
        mutating func append(_ operation: Operation, level: PriorityLevel) {
            lists[Int(level.rawValue)].append(operation)
            occupied |= 1 << level.rawValue
        }

        mutating func insert(_ operation: Operation, before place: Operation, level: PriorityLevel) {
            lists[Int(level.rawValue)].insert(operation, before: place)
        }

        @inline(__always)
        mutating func remove(_ operation: Operation, level: PriorityLevel) {
            lists[Int(level.rawValue)].remove(operation)
            if lists[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
        }

        @inline(__always)
        mutating func removeFirst(_ operation: Operation, level: PriorityLevel) {
            if !lists[Int(level.rawValue)].removeFirst(operation) { occupied &= ~(1 << level.rawValue) }
        }

        /// Takes over all of another band's operations, at the back of each level.
        mutating func append(contentsOf other: inout Levels) {
            for level in lists.indices { lists[level].append(contentsOf: &other.lists[level]) }
            occupied |= other.occupied
            other.occupied = 0
        }

        func forEach(_ body: (Operation) -> Void) {
            for level in lists.indices { lists[level].forEach(body) }
        }
    }

    /// Nearly every queue uses this band alone. Merged, it holds all of them.
    private var normal = Levels()
    /// All nine bands, once another one was used; then the normal band's place here stays empty.
    private var others: [Levels] = []
    private(set) var isMerged: Bool
    private(set) var count = 0
    /// How many of them take no slot.
    private(set) var slotlessCount: Int32 = 0
    /// How many of another band than the normal one stand in its lists, being merged.
    private var foreignCount: Int32 = 0
    /// The bands whose lists hold something.
    private(set) var bands = BandSet()

    init(isMerged: Bool) { self.isMerged = isMerged }

    @inline(__always)
    mutating func append(_ operation: Operation, as place: QueuePlace) {
        if place.band == .normal {
            normal.append(operation, level: place.level)
            return note(operation, as: place)
        }
        withLevels(place.band) { $0.append(operation, level: place.level) }
        note(operation, as: place)
    }

    /// Puts an operation right before another one, as ready as that.
    mutating func insert(_ operation: Operation, before other: Operation) {
        let place = other.place
        withLevels(place.band) { $0.insert(operation, before: other, level: place.level) }
        note(operation, as: place)
    }

    @inline(__always)
    private mutating func note(_ operation: Operation, as place: QueuePlace) {
        operation.place = place
        count += 1
        if place.level == .slotless { slotlessCount += 1 }
        if place.band == .normal || !isMerged { return bands.insert(place.band) }
        bands.insert(.normal)
        foreignCount += 1
    }

    /// Removes an operation from the list that its `place` names.
    mutating func remove(_ operation: Operation) {
        let place = operation.place
        let isBandEmpty = withLevels(place.band) { levels -> Bool in
            levels.remove(operation, level: place.level)
            return levels.isEmpty
        }
        if isBandEmpty { bands.remove(isMerged ? .normal : place.band) }
        operation.place = .none
        count -= 1
        if place.level == .slotless { slotlessCount -= 1 }
        if isMerged, place.band != .normal { foreignCount -= 1 }
    }

    /// As `remove`, for the one that `first(of:)` gave.
    @inline(__always)
    mutating func removeFirst(_ operation: Operation) {
        let place = operation.place
        if place.band != .normal || place.level == .slotless { return remove(operation) }
        normal.removeFirst(operation, level: place.level)
        if normal.isEmpty { bands.remove(.normal) }
        operation.place = .none
        count -= 1
    }

    /// Takes over all of another queue's operations, which is merged if this is, at the back of each level. In constant
    /// time.
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

    /// Merges the lists, or parts them. In constant time where only the normal band is in use. In which order those of
    /// different bands became ready is not known when they are merged: they follow the order of adding.
    mutating func setMerged(_ merges: Bool) {
        if merges == isMerged { return }
        var all: [Unmanaged<Operation>] = []
        if foreignCount > 0 || !others.isEmpty { forEach { all.append(.passUnretained($0)) } }
        // By sequence where the bands were apart; as they stand where they were together.
        if merges { all.sort { sequence(of: $0) < sequence(of: $1) } }
        let places = all.map { $0._withUnsafeGuaranteedRef { $0.place } }
        for link in all { link._withUnsafeGuaranteedRef { remove($0) } }
        isMerged = merges
        for (link, place) in zip(all, places) { link._withUnsafeGuaranteedRef { append($0, as: place) } }
    }

    /// The next one of a band; merged, of the leading band.
    @inline(__always)
    mutating func first(of band: NiceBand) -> Unmanaged<Operation>? {
        band == .normal ? normal.findFirst() : withLevels(band) { $0.findFirst() }
    }

    /// The one that goes first of all, where only the normal band is in use.
    @inline(__always)
    mutating func firstOfNormal() -> Unmanaged<Operation>? {
        bands == BandSet(.normal) && foreignCount == 0 ? normal.findFirst() : nil
    }

    /// Of merged lists: the band of the operation that goes first of all; nil if there is none.
    @inline(__always)
    mutating func leadingBand() -> NiceBand? {
        if foreignCount == 0 { return bands.isEmpty ? nil : .normal }
        return normal.findFirst()?._withUnsafeGuaranteedRef { $0.place.band }
    }

    func forEach(_ body: (Operation) -> Void) {
        for band in bands { levels(of: band).forEach(body) }
    }

    private func sequence(of operation: Unmanaged<Operation>) -> UInt64 {
        operation._withUnsafeGuaranteedRef { $0.sequence }
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
