import Synchronization

/// A flag for each operation, set by one thread and read by another: cancellation for queues that have none.
package final class CancellationFlags: @unchecked Sendable {
    let flags: UnsafeMutablePointer<Atomic<Bool>>

    package init(count: Int) {
        flags = .allocate(capacity: count)
        for index in 0..<count { (flags + index).initialize(to: Atomic(false)) }
    }

    deinit { flags.deallocate() }

    @inline(__always)
    package func isSet(_ index: Int) -> Bool { flags[index].load(ordering: .relaxed) }

    @inline(__always)
    package func set(_ index: Int) { flags[index].store(true, ordering: .relaxed) }
}
