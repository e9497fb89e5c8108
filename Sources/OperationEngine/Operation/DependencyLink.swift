/// How a list of one operation's dependencies or dependents refers to the next of them: by the address of an edge, of
/// the operation at the other end where no edge was made, or of the list's own node in a `DependencyGraph`.
struct DependencyLink: Equatable {
    /// An address and, in two bits that it leaves free, whose. Leak checkers follow addresses inside an object.
    let bits: UInt64
    private static let hasNoEdge: UInt64 = 1
    /// With `hasNoEdge`.
    private static let isNode: UInt64 = 8

    static let none = DependencyLink(bits: 0)
    /// Also nothing, in a `DependencyList` to which something was added.
    static let end = DependencyLink(bits: hasNoEdge)

    init(bits: UInt64) { self.bits = bits }
    init(to edge: DependencyEdge.Pointer?) { bits = UInt64(UInt(bitPattern: edge)) }
    init(to operation: Unmanaged<Operation>) {
        bits = UInt64(UInt(bitPattern: operation.toOpaque())) | Self.hasNoEdge
    }
    init(to node: GraphNode.Pointer) { bits = UInt64(UInt(bitPattern: node)) | Self.hasNoEdge | Self.isNode }

    @inline(__always)
    var edge: DependencyEdge.Pointer? {
        bits & Self.hasNoEdge == 0 ? DependencyEdge.Pointer(bitPattern: UInt(bits)) : nil
    }

    /// The operation to which it leads without an edge.
    @inline(__always)
    var operation: Unmanaged<Operation>? {
        guard bits & (Self.hasNoEdge | Self.isNode) == Self.hasNoEdge else { return nil }
        return UnsafeRawPointer(bitPattern: UInt(bits & ~Self.hasNoEdge)).map { .fromOpaque($0) }
    }

    @inline(__always)
    var node: GraphNode.Pointer? {
        let tag = Self.hasNoEdge | Self.isNode
        return bits & tag == tag ? GraphNode.Pointer(bitPattern: UInt(bits & ~tag)) : nil
    }
}
