/// How a list of one operation's dependencies or dependents refers to the next of them: by the address of an edge, or of
/// the operation at the other end where no edge was made.
struct DependencyLink: Equatable {
    /// An address and, in the lowest bit, whether it is an operation's. Leak checkers follow addresses inside an object.
    let bits: UInt64
    private static let hasNoEdge: UInt64 = 1

    static let none = DependencyLink(bits: 0)
    /// Also nothing, in a `DependencyList` to which something was added.
    static let end = DependencyLink(bits: hasNoEdge)

    init(bits: UInt64) { self.bits = bits }
    init(to edge: DependencyEdge.Pointer?) { bits = UInt64(UInt(bitPattern: edge)) }
    init(to operation: Unmanaged<Operation>) {
        bits = UInt64(UInt(bitPattern: operation.toOpaque())) | Self.hasNoEdge
    }

    @inline(__always)
    var edge: DependencyEdge.Pointer? {
        bits & Self.hasNoEdge == 0 ? DependencyEdge.Pointer(bitPattern: UInt(bits)) : nil
    }

    /// The operation to which it leads without an edge.
    @inline(__always)
    var operation: Unmanaged<Operation>? {
        guard bits & Self.hasNoEdge != 0 else { return nil }
        return UnsafeRawPointer(bitPattern: UInt(bits & ~Self.hasNoEdge)).map { .fromOpaque($0) }
    }
}
