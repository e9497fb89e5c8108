/// An item of a queue's inbox and lists: the part that operations and closures without objects have in common.
///
/// The queue's lock guards it. `next` belongs to the adding thread until it pushes the item into the inbox. An item owns
/// nothing, and lies within the operation or the closure.
struct QueueItem {
    typealias Pointer = UnsafeMutablePointer<QueueItem>

    enum Kind: UInt8 {
        case operation
        case closure
    }

    /// The neighbours in a list, or in the inbox.
    var next: Pointer?
    var previous: Pointer?
    /// The number that gives the order of adding.
    var sequence: UInt64 = 0
    /// The list of its queue that it is in.
    var place = ListPlace.none
    let kind: Kind

    init(_ kind: Kind) { self.kind = kind }
}

extension QueueItem.Pointer {
    @inline(__always)
    var isClosure: Bool { pointee.kind == .closure }
}
