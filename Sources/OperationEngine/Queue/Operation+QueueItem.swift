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

extension QueueItem.Pointer {
    /// The operation of an item that is not a closure's.
    @inline(__always)
    var operation: Unmanaged<Operation> {
        .fromOpaque(UnsafeRawPointer(self) - Operation.itemOffset)
    }
}

extension ItemList {
    @inline(__always)
    mutating func append(_ operation: Operation) { append(operation.asItem) }

    @inline(__always)
    mutating func remove(_ operation: Operation) { remove(operation.asItem) }
}
