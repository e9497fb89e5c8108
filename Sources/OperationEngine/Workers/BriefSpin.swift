import CLinux
import Synchronization

/// Spins for what another thread is about to do, before the thread sleeps for it.
///
/// Sleeping and waking up takes microseconds, and ten times as many if a processor falls asleep too. An operation that
/// an awake worker finds at once takes less than two. The spin learns whether it pays. If a wait ended promptly, the
/// next one spins again, for as long as a worker takes to wake up, so one interruption does not end it. After some
/// spins in vain most waits do not spin. Spinning is in vain if both threads share a processor; there it delays what it
/// waits for.
///
/// Threads that wait at the same time share what is learned, with relaxed accesses. Any mixture of their values is
/// valid.
struct BriefSpin: ~Copyable, Sendable {
    /// For all threads that wait for a queue to run empty.
    static let forDrained = BriefSpin()

    /// See `WorkerPool.prepareForThreads`.
    static func prepare() { _ = forDrained.budget.load(ordering: .relaxed) }

    /// How many looks the next wait may take. If negative, it takes none; the absolute value is the number of such
    /// waits left.
    private let budget = Atomic<Int32>(full)
    /// How many waits do not spin after the next spin in vain.
    private let pause = Atomic<Int32>(pauses.lowerBound)

    /// Some 25 µs: a worker that slept on a sleeping processor has begun by then.
    private static let full: Int32 = 1000
    /// A spin pays if it ends within this many looks.
    private static let prompt: Int32 = 100
    /// Doubles from the lower bound to the upper one. With more than a hundred, spins in vain are no part of the usual
    /// wait.
    private static let pauses: ClosedRange<Int32> = 16...512

    /// Spins for a while. False if the condition does not hold yet.
    @inline(never)
    func wait(until condition: () -> Bool) -> Bool {
        let limit = budget.load(ordering: .relaxed)
        guard limit > 0, Processors.count > 1 else {
            if limit < 0 { budget.store(limit == -1 ? Self.full : limit + 1, ordering: .relaxed) }
            return false
        }
        var looks: Int32 = 0
        while !condition() {
            if looks == limit {
                beginPause()
                return false
            }
            looks += 1
            clinux_spin_hint()
        }
        if looks > Self.prompt {
            // The wait took as long as a worker takes to wake up. The next wait may find it awake.
            if limit / 2 > Self.prompt { budget.store(limit / 2, ordering: .relaxed) } else { beginPause() }
        } else if limit < Self.full {
            budget.store(Self.full, ordering: .relaxed)
            pause.store(Self.pauses.lowerBound, ordering: .relaxed)
        }
        return true
    }

    private func beginPause() {
        let waits = pause.load(ordering: .relaxed)
        pause.store(min(waits * 2, Self.pauses.upperBound), ordering: .relaxed)
        budget.store(-waits, ordering: .relaxed)
    }
}
