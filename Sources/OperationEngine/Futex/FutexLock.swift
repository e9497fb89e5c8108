import CLinux
import Synchronization

/// A small lock on a futex word: 0 is free, 1 is held, 2 is held with sleepers. Not recursive.
///
/// `Synchronization.Mutex` on Linux is a priority-inheriting futex, which is slow when contended and opaque to
/// ThreadSanitizer. This lock is three plain atomics that the sanitizer sees.
package struct FutexLock: ~Copyable, Sendable {
    private let word = Atomic<UInt32>(0)

    /// How many times to spin before sleeping. The engine's critical sections take some tens of nanoseconds.
    private static let spins = 60

    package init() {}

    @inline(__always)
    package func lock() {
        if !tryLock() { lockContended() }
    }

    /// As `lock`, for a thread that takes the lock again and again and can back off: see `LockTurns`.
    @inline(__always)
    func lock(inTurns turns: inout LockTurns) {
        turns.begin()
        if !tryLock() { lockContended(inTurns: &turns) }
    }

    @inline(__always)
    private func tryLock() -> Bool {
        // Acquiring: pairs with the releasing exchange of `unlock`, so the holder sees all earlier critical sections.
        word.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
    }

    @inline(__always)
    package func unlock() {
        if word.exchange(0, ordering: .releasing) == 2 {
            Futex.wake(word, count: 1)
        }
    }

    @inline(__always)
    package func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }

    @inline(never)
    private func lockContended(inTurns turns: inout LockTurns) {
        let nanoseconds = turns.meet()
        defer { turns.part() }
        for _ in 0..<LockTurns.patience {
            LockTurns.standAside(for: nanoseconds)
            if tryLock() { return }
        }
        lockContended()
    }

    @inline(never)
    private func lockContended() {
        for _ in 0..<Self.spins {
            clinux_spin_hint()
            if word.load(ordering: .relaxed) == 0, tryLock() { return }
        }
        ForkedChild.endIfOne()
        // From here on the lock is taken as 2: a thread that has slept cannot know whether others still sleep.
        while word.exchange(2, ordering: .acquiring) != 0 {
            Futex.wait(word, expected: 2)
        }
    }
}
