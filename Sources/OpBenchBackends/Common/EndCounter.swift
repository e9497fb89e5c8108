import CLinux
import Synchronization

/// Counts the submitted work that has not ended, for which `drain` waits: a `DispatchGroup` that takes one atomic
/// operation for each piece of work instead of two.
///
/// Pointers, without reference counting. The thread that brings the count to 0 does not touch it after the store that
/// lets the waiting thread continue, which may free it.
///
/// More ends than beginnings bring the count below 0: then some work ran twice. It stays there from `close` on.
package struct EndCounter: @unchecked Sendable {
    /// The work that has not ended, and 1 that `wait` takes away: the count reaches 0 once in each wait.
    let count = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
    /// 1 when an end has brought the count to 0; a futex.
    private let isEmpty = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

    package init() {
        count.initialize(to: Atomic(1))
        isEmpty.initialize(to: Atomic(0))
    }

    package func deallocate() {
        count.deallocate()
        isEmpty.deallocate()
    }

    /// So much will be submitted. Called before it is, by work that has not ended, by the waiting thread, or by one
    /// that it has waited for.
    @inline(__always)
    package func begin(_ more: Int) { count.pointee.add(more, ordering: .relaxed) }

    /// Some work has ended. Ordered so that the waiting thread sees the effects of all the work.
    @inline(__always)
    package func end() {
        let rest = count.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue
        if rest <= 0 { announce(rest) }
    }

    /// Returns when all has ended. One thread at a time may wait.
    package func wait() {
        if count.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue != 0 {
            while isEmpty.pointee.load(ordering: .acquiring) == 0 { _ = clinux_futex_wait(futex, 0, -1) }
            isEmpty.pointee.store(0, ordering: .relaxed)
        }
        count.pointee.add(1, ordering: .relaxed)
    }

    /// Ends the count: nothing is submitted any more, and all has ended.
    ///
    /// - Returns: false if more has ended than was submitted.
    package func close() -> Bool { count.pointee.exchange(.min / 2, ordering: .acquiringAndReleasing) == 1 }

    /// Waking takes the address alone, and reads nothing there.
    @inline(never)
    func announce(_ rest: Int) {
        guard rest == 0 else { return BrokenRound.report("an operation ran once more than it was submitted") }
        isEmpty.pointee.store(1, ordering: .releasing)
        clinux_futex_wake(futex, 1)
    }

    private var futex: UnsafePointer<UInt32> { UnsafeRawPointer(isEmpty).assumingMemoryBound(to: UInt32.self) }
}

/// Counts down to the last of a batch.
package final class Countdown: Sendable {
    let rest: Atomic<Int>

    package init(_ count: Int) { rest = Atomic(count) }

    /// True for the last of the `count` calls. Ordered so that the last caller sees what the others did.
    package func isLast() -> Bool { rest.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}
