/// A doubly linked list through the items themselves. Guarded by the queue's lock. It owns nothing: the queue retains
/// its operations from adding to finish, and its batches until they are empty.
struct ItemList {
    private(set) var first: ReadyItem?
    private(set) var last: ReadyItem?

    var isEmpty: Bool { first == nil }

    @inline(__always)
    mutating func append(_ item: ReadyItem) {
        item.next = nil
        item.previous = last
        if let last { last.next = item } else { first = item }
        last = item
    }

    @inline(__always)
    mutating func append(_ operation: Operation) { append(ReadyItem(operation)) }

    /// Puts an item before another one of this list.
    mutating func insert(_ item: ReadyItem, before place: ReadyItem) {
        item.next = place
        item.previous = place.previous
        if let before = place.previous { before.next = item } else { first = item }
        place.previous = item
    }

    @inline(__always)
    mutating func remove(_ item: ReadyItem) {
        let (before, after) = (item.previous, item.next)
        if let before { before.next = after } else { first = after }
        if let after { after.previous = before } else { last = before }
        item.next = nil
        item.previous = nil
    }

    @inline(__always)
    mutating func remove(_ operation: Operation) { remove(ReadyItem(operation)) }

    /// Removes the first one. False if the list is empty now.
    @inline(__always)
    mutating func removeFirst(_ item: ReadyItem) -> Bool {
        let after = item.next
        first = after
        item.next = nil
        guard let after else {
            last = nil
            return false
        }
        after.previous = nil
        return true
    }

    /// Appends all items of another list, which is empty then. In constant time.
    mutating func append(contentsOf other: inout ItemList) {
        guard let joint = other.first else { return }
        joint.previous = last
        if let last { last.next = joint } else { first = joint }
        last = other.last
        other = ItemList()
    }

    /// Visits all, in order. `body` may release what it is given.
    @inline(__always)
    func visitAll(_ body: (ReadyItem) -> Void) {
        var next = first
        while let item = next {
            next = item.next
            body(item)
        }
    }

    /// Visits the operations among them.
    @inline(__always)
    func visitOperations(_ body: (Operation) -> Void) {
        visitAll { if case .operation(let operation) = $0.kind { body(operation.takeUnretainedValue()) } }
    }
}
