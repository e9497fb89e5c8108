import Dispatch
import OpBenchModel
import Synchronization

/// Keeps count of the streams of a refilled queue: each producer's part of the plan is one stream of batches.
final class Refill: Sendable {
    /// Operations in a batch.
    let window: Int
    private let streams: Int
    private let ended = DispatchSemaphore(value: 0)

    init(window: Int, streams: Int) {
        self.window = window
        self.streams = streams
    }

    /// The stream's last batch is done.
    func streamEnded() { ended.signal() }

    /// Waits for the end of every stream.
    func wait() { for _ in 0..<streams { ended.wait() } }
}

/// Counts down to the last of a batch.
final class Countdown: Sendable {
    private let rest: Atomic<Int>

    init(_ count: Int) { rest = Atomic(count) }

    /// True for the last of the `count` calls. Ordered so that the last caller sees what the others did.
    func isLast() -> Bool { rest.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}

extension WorkloadPlan {
    /// The operations of a refilled batch; nil for other ways of submission.
    var refillWindow: Int? {
        if case .refill(let window) = submission { window } else { nil }
    }

    var isRefill: Bool { refillWindow != nil }

    /// Whether closures are handed to the queue one by one, with no object made before.
    var makesClosuresOnly: Bool { form == .closure && submission == .each }
}
