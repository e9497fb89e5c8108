import Synchronization

/// Threads that go in step, so that they meet in what they do next. Where they hardly ever have a core at the same
/// time, each step costs a turn of everything else on the machine: after a while they stop waiting for each other.
///
/// Safe to use from any thread.
public final class Lockstep: Sendable {
    private let threads: Int
    private let arrivals = Atomic(0)
    private let end: ContinuousClock.Instant

    public init(threads: Int, atMost limit: Duration = .seconds(10)) {
        self.threads = threads
        end = .now + limit
    }

    /// Spins until all threads have come to this step, the first of which is 0; returns at once when time is up.
    public func take(_ step: Int) {
        arrivals.add(1, ordering: .relaxed)
        var looks = 0
        while arrivals.load(ordering: .relaxed) < threads * (step + 1) {
            looks += 1
            if looks.isMultiple(of: 1024), ContinuousClock.now > end { return }
        }
    }
}
