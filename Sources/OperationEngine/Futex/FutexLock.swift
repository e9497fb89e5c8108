import CLinux
import Glibc
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

/// futex(2) on the address of an atomic word. An `Atomic` never moves: it is a stored `let` of a class, or of a
/// non-copyable value that is one.
enum Futex {
    /// Sleeps while the word holds `expected`; may return early. False on timeout.
    @discardableResult
    static func wait(_ word: borrowing Atomic<UInt32>, expected: UInt32, timeoutNanoseconds: Int64 = -1) -> Bool {
        withUnsafePointer(to: word) { address in
            address.withMemoryRebound(to: UInt32.self, capacity: 1) {
                clinux_futex_wait($0, expected, timeoutNanoseconds) != ETIMEDOUT
            }
        }
    }

    static func wake(_ word: borrowing Atomic<UInt32>, count: Int32) {
        withUnsafePointer(to: word) { address in
            address.withMemoryRebound(to: UInt32.self, capacity: 1) { clinux_futex_wake($0, count) }
        }
    }
}

extension Futex {
    /// As `wait`, on the low half of a 64-bit word (all supported machines are little-endian).
    @discardableResult
    static func waitOnLowHalf(
        of word: borrowing Atomic<UInt64>, expected: UInt64, timeoutNanoseconds: Int64
    ) -> Bool {
        withUnsafePointer(to: word) { address in
            address.withMemoryRebound(to: UInt32.self, capacity: 2) {
                clinux_futex_wait($0, UInt32(truncatingIfNeeded: expected), timeoutNanoseconds) != ETIMEDOUT
            }
        }
    }

    static func wakeAllOnLowHalf(of word: borrowing Atomic<UInt64>) {
        withUnsafePointer(to: word) { address in
            address.withMemoryRebound(to: UInt32.self, capacity: 2) { clinux_futex_wake($0, .max) }
        }
    }
}
