/// Keeps count of a refilled queue: each producer's part of the plan is one stream of batches.
///
/// A stream has ended when its last batch is done and no call that submits a batch is still on its way out: such a call
/// may return after the operations it submitted, and those that they submitted, have ended.
package final class Refill: Sendable {
    /// Operations in a batch.
    package let window: Int
    /// Streams that have not ended, and submitting calls that have not returned.
    private let open = EndCounter()

    package init(window: Int, streams: Int) {
        self.window = window
        open.begin(streams)
    }

    deinit { open.deallocate() }

    /// A call that submits a batch begins; its stream has not ended.
    package func willSubmit() { open.begin(1) }

    /// That call is about to return and touches nothing any more.
    package func didSubmit() { open.end() }

    /// A stream's last batch is done.
    package func streamEnded() { open.end() }

    /// Waits for the end of every stream.
    package func wait() { open.wait() }
}
