import Synchronization

/// Counts down to the last of a batch.
public final class Countdown: Sendable {
    @usableFromInline let rest: Atomic<Int>

    public init(_ count: Int) { rest = Atomic(count) }

    /// True for the last of the `count` calls. Ordered so that the last caller sees what the others did.
    @inlinable
    public func isLast() -> Bool { rest.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
