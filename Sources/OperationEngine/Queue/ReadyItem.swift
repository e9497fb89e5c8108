/// An item of a queue's inbox and lists: an operation, or a batch of closures. It is one word and owns nothing.
///
/// The fields are those of the operation or the batch. They are guarded by the queue's lock; `next` belongs to the adding
/// thread until it pushes the item into the inbox.
struct ReadyItem {
    enum Kind {
        case operation(Unmanaged<Operation>)
        case batch(Unmanaged<ClosureBatch>)
    }

    /// The object's, and one more for a batch. An enumeration would put its mark into the upper bits, where tools that
    /// search memory for leaks do not recognize the pointer.
    private let address: UnsafeRawPointer

    @inline(__always)
    static func operation(_ operation: Unmanaged<Operation>) -> ReadyItem { ReadyItem(address: operation.toOpaque()) }

    @inline(__always)
    static func batch(_ batch: Unmanaged<ClosureBatch>) -> ReadyItem { ReadyItem(address: batch.toOpaque() + 1) }

    private init(address: UnsafeRawPointer) { self.address = address }

    var kind: Kind {
        @inline(__always)
        get {
            Int(bitPattern: address) & 1 == 0
                ? .operation(Unmanaged.fromOpaque(address)) : .batch(Unmanaged.fromOpaque(address - 1))
        }
    }

    @inline(__always)
    init(_ operation: Operation) { self = .operation(.passUnretained(operation)) }

    @inline(__always)
    init(_ batch: ClosureBatch) { self = .batch(.passUnretained(batch)) }

    /// The neighbours in a list, or in the inbox.
    var next: ReadyItem? {
        @inline(__always)
        get {
            switch kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.next }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.next }
            }
        }
        @inline(__always)
        nonmutating set {
            switch kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.next = newValue }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.next = newValue }
            }
        }
    }

    var previous: ReadyItem? {
        @inline(__always)
        get {
            switch kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.previous }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.previous }
            }
        }
        @inline(__always)
        nonmutating set {
            switch kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.previous = newValue }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.previous = newValue }
            }
        }
    }

    /// The list of its queue that it is in.
    var place: ListPlace {
        @inline(__always)
        get {
            switch kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.place }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.place }
            }
        }
        @inline(__always)
        nonmutating set {
            switch kind {
            case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.place = newValue }
            case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.place = newValue }
            }
        }
    }

    /// The number that gives the order of adding.
    var sequence: UInt64 {
        switch kind {
        case .operation(let operation): operation._withUnsafeGuaranteedRef { $0.sequence }
        case .batch(let batch): batch._withUnsafeGuaranteedRef { $0.sequence }
        }
    }
}
