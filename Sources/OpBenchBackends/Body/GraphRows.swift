import OpBenchModel

/// One half of a graph, where a body finds an operation's neighbours without reference counting.
public struct GraphRows: @unchecked Sendable {
    @usableFromInline let starts: UnsafeMutablePointer<Int32>
    @usableFromInline let targets: UnsafeMutablePointer<Int32>

    public init(_ rows: DependencyGraph.Rows) {
        starts = Self.copy(rows.starts)
        targets = Self.copy(rows.targets)
    }

    public func deallocate() {
        starts.deallocate()
        targets.deallocate()
    }

    @inlinable
    @inline(__always)
    public subscript(operation: Int) -> UnsafeBufferPointer<Int32> {
        let start = Int(starts[operation])
        return UnsafeBufferPointer(start: targets + start, count: Int(starts[operation + 1]) - start)
    }

    private static func copy(_ numbers: [Int32]) -> UnsafeMutablePointer<Int32> {
        let copy = UnsafeMutablePointer<Int32>.allocate(capacity: max(1, numbers.count))
        _ = UnsafeMutableBufferPointer(start: copy, count: numbers.count).initialize(from: numbers)
        return copy
    }
}
