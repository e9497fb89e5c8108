import CLinux
import Synchronization

/// Looks for what another thread is about to do, before going to sleep for it.
///
/// To sleep and to be woken takes microseconds, and ten times as many where a processor falls asleep too. An operation
/// that an awake worker finds at once takes less than two. Whether looking pays is learned by looking. What comes
/// promptly is looked for again next time, for as long as a worker takes to wake up, so that one interruption does not
/// end it. After some looks in vain most waits do without: in vain they are where both threads share a processor, and
/// there they delay what they look for.
///
/// Threads that wait at the same time share what is learned, without order: any mixture of it is right.
struct BriefSpin: ~Copyable, Sendable {
    /// Of all threads that wait for a queue to run empty.
    static let forDrained = BriefSpin()

    /// See `WorkerPool.prepareForThreads`.
    static func prepare() { _ = forDrained.budget.load(ordering: .relaxed) }

    /// How many looks the next wait may take. If negative none, and for how many waits more.
    private let budget = Atomic<Int32>(full)
    /// For how many waits after the next one in vain.
    private let pause = Atomic<Int32>(pauses.lowerBound)

    /// Some 25 µs: a worker that slept on a sleeping processor has begun by then.
    private static let full: Int32 = 1000
    /// What comes within this many looks was worth while.
    private static let prompt: Int32 = 100
    /// Doubled from the lower bound to the upper one: with more than a hundred, looks in vain are no part of the usual.
    private static let pauses: ClosedRange<Int32> = 16...512

    /// Looks for a while. False if the condition does not hold yet.
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
            // As long as a worker takes to wake up. The next one may find it awake.
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
