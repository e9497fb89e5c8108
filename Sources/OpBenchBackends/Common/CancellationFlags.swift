import Synchronization

/// A flag for each operation, set by one thread and read by another: how operations are cancelled on queues that cannot.
///
/// Inlinable, so that it costs the backends of other modules no more than those of this one.
public final class CancellationFlags: @unchecked Sendable {
    @usableFromInline let flags: UnsafeMutablePointer<Atomic<Bool>>

    public init(count: Int) {
        flags = .allocate(capacity: count)
        for index in 0..<count { (flags + index).initialize(to: Atomic(false)) }
    }

    deinit { flags.deallocate() }

    @inlinable
    @inline(__always)
    public func isSet(_ index: Int) -> Bool { flags[index].load(ordering: .relaxed) }

    @inlinable
    @inline(__always)
    public func set(_ index: Int) { flags[index].store(true, ordering: .relaxed) }
}
