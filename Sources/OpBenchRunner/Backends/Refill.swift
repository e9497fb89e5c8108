import Dispatch
import OpBenchModel
import Synchronization

/// Keeps count of a refilled queue: each producer's part of the plan is one stream of batches.
///
/// A stream has ended when its last batch is done and no call that submits a batch is still on its way out: such a call
/// may return after the operations it submitted, and those that they submitted, have ended.
final class Refill: Sendable {
    /// Operations in a batch.
    let window: Int
    /// Streams that have not ended, and submitting calls that have not returned.
    private let open: Atomic<Int>
    private let ended = DispatchSemaphore(value: 0)

    init(window: Int, streams: Int) {
        self.window = window
        open = Atomic(streams)
    }

    /// A call that submits a batch begins; its stream has not ended.
    func willSubmit() { open.add(1, ordering: .relaxed) }

    /// That call is about to return and touches nothing any more.
    func didSubmit() { close() }

    /// A stream's last batch is done.
    func streamEnded() { close() }

    /// Waits for the end of every stream.
    func wait() { ended.wait() }

    /// Ordered so that whoever waits sees what all the others did.
    private func close() {
        if open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { ended.signal() }
    }
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

    /// Whether an operation has a completion block that could be timed: `addOperation { }` makes nothing that has one.
    var hasCompletionBlocks: Bool { form != .closure || submission == .bulk }

    /// Whether closures are handed to the queue one by one, with no object made before.
    var makesClosuresOnly: Bool { form == .closure && submission == .each }
}
