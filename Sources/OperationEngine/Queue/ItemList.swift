/// A doubly linked list through the items themselves. Guarded by the queue's lock. It owns nothing: the queue retains
/// its operations from adding to finish, and frees its closures.
struct ItemList {
    private(set) var first: QueueItem.Pointer?
    private(set) var last: QueueItem.Pointer?

    var isEmpty: Bool { first == nil }

    @inline(__always)
    mutating func append(_ item: QueueItem.Pointer) {
        item.pointee.next = nil
        item.pointee.previous = last
        if let last { last.pointee.next = item } else { first = item }
        last = item
    }

    /// Puts an item before another one of this list.
    mutating func insert(_ item: QueueItem.Pointer, before place: QueueItem.Pointer) {
        item.pointee.next = place
        item.pointee.previous = place.pointee.previous
        if place == first { first = item } else { place.pointee.previous?.pointee.next = item }
        place.pointee.previous = item
    }

    @inline(__always)
    mutating func remove(_ item: QueueItem.Pointer) {
        if item == first {
            removeFirst(item)
            return
        }
        let (before, after) = (item.pointee.previous, item.pointee.next)
        before?.pointee.next = after
        if let after { after.pointee.previous = before } else { last = before }
    }

    /// Removes the first one. False if the list is empty now. The next one keeps its `previous`, which is not read while
    /// it is the first.
    @inline(__always)
    @discardableResult
    mutating func removeFirst(_ item: QueueItem.Pointer) -> Bool {
        first = item.pointee.next
        if first == nil { last = nil }
        return first != nil
    }

    /// Appends all items of another list, which is empty then. In constant time.
    mutating func append(contentsOf other: inout ItemList) {
        guard let joint = other.first else { return }
        joint.pointee.previous = last
        if let last { last.pointee.next = joint } else { first = joint }
        last = other.last
        other = ItemList()
    }

    /// Visits them in order, as long as `body` says true. Returns what it said last, or true. `body` may release what it
    /// is given.
    @inline(__always)
    @discardableResult
    func visit(_ body: (QueueItem.Pointer) -> Bool) -> Bool {
        var next = first
        while let item = next {
            next = item.pointee.next
            if !body(item) { return false }
        }
        return true
    }

    @inline(__always)
    func visitAll(_ body: (QueueItem.Pointer) -> Void) {
        visit {
            body($0)
            return true
        }
    }
}
