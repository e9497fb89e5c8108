import CLinux
import Synchronization

/// futex(2) on the address of an atomic word. An `Atomic` never moves: it is a stored `let` of a class, or of a
/// non-copyable value that is one.
enum Futex {
    /// Sleeps while the word holds `expected`. It may return early. Returns false on timeout.
    @discardableResult
    static func wait(_ word: borrowing Atomic<UInt32>, expected: UInt32, timeoutNanoseconds: Int64 = -1) -> Bool {
        withUnsafePointer(to: word) { clinux_futex_wait(low(of: $0), expected, timeoutNanoseconds) != ETIMEDOUT }
    }

    static func wake(_ word: borrowing Atomic<UInt32>, count: Int32) {
        withUnsafePointer(to: word) { clinux_futex_wake(low(of: $0), count) }
    }

    /// As `wait`, on the low half of a 64-bit word (all supported machines are little-endian).
    @discardableResult
    static func waitOnLowHalf(
        of word: borrowing Atomic<UInt64>, expected: UInt64, timeoutNanoseconds: Int64
    ) -> Bool {
        withUnsafePointer(to: word) {
            clinux_futex_wait(low(of: $0), UInt32(truncatingIfNeeded: expected), timeoutNanoseconds) != ETIMEDOUT
        }
    }

    static func wakeAllOnLowHalf(of word: borrowing Atomic<UInt64>) {
        withUnsafePointer(to: word) { clinux_futex_wake(low(of: $0), .max) }
    }

    @inline(__always)
    private static func low(of word: UnsafeRawPointer) -> UnsafePointer<UInt32> {
        word.assumingMemoryBound(to: UInt32.self)
    }
}
