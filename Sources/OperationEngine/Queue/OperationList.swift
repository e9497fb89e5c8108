/// Where an operation stands in its queue. Guarded by the queue's lock.
struct QueuePlace: Equatable {
    enum Kind: UInt8 {
        /// In no list: not added yet, in the inbox, in the hands of the thread that files it, or gone.
        case none
        case waiting
        case ready
        case executing
    }

    var kind: Kind
    /// The list among the ready ones; kept while executing.
    var level = PriorityLevel.normal
    var band = NiceBand.normal

    static let none = QueuePlace(kind: .none)
    static let waiting = QueuePlace(kind: .waiting)

    /// Where a ready operation goes.
    static func ready(_ operation: Operation, _ word: OperationState.Word, band: NiceBand) -> QueuePlace {
        let isSlotless = word.isCancelled && !MethodOverride.start.isPresent(in: operation)
        return QueuePlace(kind: .ready, level: isSlotless ? .slotless : word.level, band: band)
    }
}

/// A doubly linked list through the operations themselves. It owns nothing: the queue retains its operations from
/// adding to finish. Guarded by the queue's lock.
struct OperationList {
    private(set) var first: Unmanaged<Operation>?
    private(set) var last: Unmanaged<Operation>?

    var isEmpty: Bool { first == nil }

    @inline(__always)
    mutating func append(_ operation: Operation) {
        let link = Unmanaged.passUnretained(operation)
        operation.next = nil
        operation.previous = last
        if let last { last._withUnsafeGuaranteedRef { $0.next = link } } else { first = link }
        last = link
    }

    /// Puts an operation before another one of this list.
    mutating func insert(_ operation: Operation, before place: Operation) {
        let link = Unmanaged.passUnretained(operation)
        operation.next = .passUnretained(place)
        operation.previous = place.previous
        if let before = place.previous { before._withUnsafeGuaranteedRef { $0.next = link } } else { first = link }
        place.previous = link
    }

    @inline(__always)
    mutating func remove(_ operation: Operation) {
        let (before, after) = (operation.previous, operation.next)
        if let before { before._withUnsafeGuaranteedRef { $0.next = after } } else { first = after }
        if let after { after._withUnsafeGuaranteedRef { $0.previous = before } } else { last = before }
        operation.next = nil
        operation.previous = nil
    }

    /// Removes the first one. False if the list is empty now.
    @inline(__always)
    mutating func removeFirst(_ operation: Operation) -> Bool {
        let after = operation.next
        first = after
        operation.next = nil
        guard let after else {
            last = nil
            return false
        }
        after._withUnsafeGuaranteedRef { $0.previous = nil }
        return true
    }

    /// Takes over all of another list, at the back. In constant time.
    mutating func append(contentsOf other: inout OperationList) {
        guard let joint = other.first else { return }
        joint._withUnsafeGuaranteedRef { $0.previous = last }
        if let last { last._withUnsafeGuaranteedRef { $0.next = joint } } else { first = joint }
        last = other.last
        other = OperationList()
    }

    @inline(__always)
    func forEach(_ body: (Operation) -> Void) { visitLinks { body($0.takeUnretainedValue()) } }

    /// As `forEach`, for who may release what it is given.
    @inline(__always)
    func visitLinks(_ body: (Unmanaged<Operation>) -> Void) {
        var next = first
        while let link = next {
            next = link._withUnsafeGuaranteedRef { $0.next }
            body(link)
        }
    }
}
