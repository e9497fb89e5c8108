/// The items that a queue got between two barriers, or one barrier alone. Held until everything before it is finished.
/// Guarded by the queue's lock.
final class HeldSegment {
    private let liveMark = LiveMark(.heldSegment)
    /// The sequence number of the first item that belongs here.
    let firstSequence: UInt64
    /// The items that will be ready once the segment is reached, already in order and by priority.
    @exclusivity(unchecked) var ready: ReadyQueue
    @exclusivity(unchecked) var waiting = ItemList()

    init(firstSequence: UInt64, isMerged: Bool) {
        self.firstSequence = firstSequence
        ready = ReadyQueue(isMerged: isMerged)
    }

    func remove(_ item: QueueItem.Pointer) {
        if item.pointee.place.kind == .ready { ready.remove(item) } else { waiting.remove(item) }
    }
}

/// The segments that a queue holds back, in the order of adding: a barrier, what was added after it, the next barrier,
/// and so on. Pure data, guarded by the queue's lock. In a queue without barriers it is empty, and costs one comparison
/// a step.
struct HeldSegments: ~Copyable {
    /// The places before `head` are empty, because those segments were reached. So reaching a segment takes constant
    /// time.
    private var segments: [HeldSegment?] = []
    private var head = 0
    /// Items from this number on are held.
    private(set) var firstSequence = UInt64.max

    var isEmpty: Bool { firstSequence == .max }
    mutating func append(_ segment: HeldSegment) {
        segments.append(segment)
        updateHead()
    }

    /// Takes out the segment that is reached.
    mutating func removeFirst() -> HeldSegment {
        let first = segments[head].take().unsafelyUnwrapped
        head += 1
        updateHead()
        return first
    }

    /// The segment that an operation belongs to: the last one that begins at or before its number.
    func segment(of sequence: UInt64) -> HeldSegment { segments[index(of: sequence)].unsafelyUnwrapped }

    /// Takes out two segments: that of the barrier with that number, which was alone in it, and the one behind it.
    ///
    /// - Returns: the segment behind the barrier, and the one before it, which has to take over the items of the
    ///   former. The one before is nil if it is not held.
    mutating func dissolve(barrier sequence: UInt64) -> (before: HeldSegment?, behind: HeldSegment) {
        let place = index(of: sequence)
        let before = place > head ? segments[place - 1] : nil
        let behind = segments[place + 1].unsafelyUnwrapped
        if place == head {
            segments[place] = nil
            segments[place + 1] = nil
            head += 2
        } else {
            segments.removeSubrange(place...place + 1)
        }
        updateHead()
        return (before, behind)
    }

    func visitAll(_ body: (HeldSegment) -> Void) {
        for segment in segments[head...] { segment.map(body) }
    }

    /// Visits them in order, as long as `body` says true.
    func visit(_ body: (HeldSegment) -> Bool) {
        for segment in segments[head...] {
            if let segment, !body(segment) { return }
        }
    }

    private func index(of sequence: UInt64) -> Int {
        var (low, high) = (head, segments.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].unsafelyUnwrapped.firstSequence <= sequence { low = middle } else { high = middle }
        }
        return low
    }

    /// Drops the empty places once they are more than half, and brings `firstSequence` up to date.
    private mutating func updateHead() {
        if head == segments.count {
            segments.removeAll(keepingCapacity: segments.count <= 64)
            head = 0
        } else if head > 32, head > segments.count / 2 {
            segments.removeFirst(head)
            head = 0
        }
        firstSequence = head < segments.count ? segments[head].unsafelyUnwrapped.firstSequence : .max
    }
}
