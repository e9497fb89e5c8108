/// The ready operations of a queue, by band of worker threads and priority level; first in, first out within each.
///
/// Pure data, guarded by the queue's lock. Nothing here ever looks at an operation that is not ready.
struct ReadyQueue {
    /// One band's five lists and which of them hold something.
    struct Levels {
        private var lists = (OperationList(), OperationList(), OperationList(), OperationList(), OperationList())
        private var occupied: UInt8 = 0

        var isEmpty: Bool { occupied == 0 }
        /// The highest level with an operation.
        var highest: PriorityLevel? {
            occupied == 0 ? nil : PriorityLevel(rawValue: UInt8(7 - occupied.leadingZeroBitCount))
        }
        var first: Operation? { highest.flatMap { list($0).first?.takeUnretainedValue() } }

        mutating func append(_ operation: Operation, level: PriorityLevel) {
            withList(level) { $0.append(operation) }
            occupied |= 1 << level.rawValue
        }

        mutating func remove(_ operation: Operation, level: PriorityLevel) {
            if withList(
                level,
                { list -> Bool in
                    list.remove(operation)
                    return list.isEmpty
                })
            {
                occupied &= ~(1 << level.rawValue)
            }
        }

        func forEach(_ body: (Operation) -> Void) {
            for level in 0..<PriorityLevel.count { list(PriorityLevel(rawValue: UInt8(level))).forEach(body) }
        }

        private func list(_ level: PriorityLevel) -> OperationList {
            switch level.rawValue {
            case 0: lists.0
            case 1: lists.1
            case 2: lists.2
            case 3: lists.3
            default: lists.4
            }
        }

        private mutating func withList<Result>(
            _ level: PriorityLevel, _ body: (inout OperationList) -> Result
        ) -> Result {
            switch level.rawValue {
            case 0: body(&lists.0)
            case 1: body(&lists.1)
            case 2: body(&lists.2)
            case 3: body(&lists.3)
            default: body(&lists.4)
            }
        }
    }

    /// Nearly every queue uses this band alone.
    private var normal = Levels()
    /// All nine bands, once another one was used; then the normal band's place here stays empty.
    private var others: [Levels] = []
    private(set) var count = 0
    /// The bands that hold something.
    private(set) var bands = BandSet()

    mutating func append(_ operation: Operation, as place: QueuePlace) {
        operation.place = place
        withLevels(place.band) { $0.append(operation, level: place.level) }
        bands.insert(place.band)
        count += 1
    }

    /// Removes an operation from the list that its `place` names.
    mutating func remove(_ operation: Operation) {
        let place = operation.place
        let isBandEmpty = withLevels(place.band) { levels -> Bool in
            levels.remove(operation, level: place.level)
            return levels.isEmpty
        }
        if isBandEmpty { bands.remove(place.band) }
        operation.place = .none
        count -= 1
    }

    /// The next one of a band.
    func first(of band: NiceBand) -> Operation? { levels(of: band).first }

    /// The band of the operation that goes first of all: the highest level, then the earliest added.
    var leadingBand: NiceBand? {
        guard !bands.isEmpty else { return nil }
        if bands == BandSet(.normal) { return .normal }
        return bands.max { left, right in
            let (a, b) = (levels(of: left), levels(of: right))
            let (x, y) = (a.highest?.rawValue ?? 0, b.highest?.rawValue ?? 0)
            return x != y ? x < y : (a.first?.sequence ?? .max) > (b.first?.sequence ?? .max)
        }
    }

    func forEach(_ body: (Operation) -> Void) {
        for band in bands { levels(of: band).forEach(body) }
    }

    private func levels(of band: NiceBand) -> Levels {
        band == .normal ? normal : others.isEmpty ? Levels() : others[band.index]
    }

    private mutating func withLevels<Result>(_ band: NiceBand, _ body: (inout Levels) -> Result) -> Result {
        if band == .normal { return body(&normal) }
        if others.isEmpty { others = Array(repeating: Levels(), count: NiceBand.count) }
        return body(&others[band.index])
    }
}
