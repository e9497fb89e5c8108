import CLinux
import Synchronization

/// A small mutual-exclusion lock on a futex word: 0 free, 1 held, 2 held with sleepers.
///
/// `Synchronization.Mutex` on Linux is a priority-inheriting futex, slow when contended and opaque to ThreadSanitizer;
/// this one is three plain atomics that the sanitizer sees. Not recursive.
struct FutexLock: ~Copyable, Sendable {
    private let word = Atomic<UInt32>(0)

    /// Spins before sleeping: the engine's critical sections are some tens of nanoseconds long.
    private static let spins = 60

    @inline(__always)
    func lock() {
        if !tryLock() { lockContended() }
    }

    /// As `lock`, for a thread that comes again and again, and may stand aside for others.
    @inline(__always)
    func lock(inTurns turns: inout LockTurns) {
        turns.begin()
        if !tryLock() { lockContended(inTurns: &turns) }
    }

    @inline(__always)
    private func tryLock() -> Bool {
        // Acquiring: pairs with the releasing exchange of `unlock`, so that the holder sees all earlier sections.
        word.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed).exchanged
    }

    @inline(__always)
    func unlock() {
        if word.exchange(0, ordering: .releasing) == 2 {
            Futex.wake(word, count: 1)
        }
    }

    @inline(__always)
    func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
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
        // From here on the lock is taken as 2: whoever has slept cannot know whether others still sleep.
        while word.exchange(2, ordering: .acquiring) != 0 {
            Futex.wait(word, expected: 2)
        }
    }
}
