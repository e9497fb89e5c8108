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

    /// The operation of an item that is not a closure's.
    @inline(__always)
    var operation: Unmanaged<Operation> {
        .fromOpaque(UnsafeRawPointer(self) - Operation.itemOffset)
    }

    /// The closure of an item that is one's.
    @inline(__always)
    var closure: WaitingClosure.Pointer {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: WaitingClosure.self)
    }
}

extension Operation {
    /// The offset of `item`: it lies behind the object's header of two words and `state`.
    fileprivate static var itemOffset: Int { 16 + MemoryLayout<OperationState>.size }

    /// The operation as an item of its queue. Not retained.
    @inline(__always)
    final var asItem: QueueItem.Pointer {
        let address = Unmanaged.passUnretained(self).toOpaque() + Self.itemOffset
        return address.assumingMemoryBound(to: QueueItem.self)
    }

    /// Checks, for an operation that no other thread knows, that `item` lies where `itemOffset` takes it to be, and that
    /// `state` lies where a finishing dependency looks for it. All are the operation's address and a constant. So a
    /// release build compares nothing if they are the same, and traps at the first operation if they are not.
    @inline(__always)
    final func checkLayout() {
        precondition(asItem == withUnsafeMutablePointer(to: &item) { $0 })
        precondition(DependencyEdge.state(of: .passUnretained(self)) == withUnsafePointer(to: state) { $0 })
    }

    @inline(__always)
    final var place: ListPlace {
        get { asItem.pointee.place }
        set { asItem.pointee.place = newValue }
    }

    @inline(__always)
    final var sequence: UInt64 { asItem.pointee.sequence }
}
