import OpBenchModel
import Synchronization

/// A refilled queue in which the last body of a batch submits the next one: one counter per producer's part, no
/// completion blocks. Pointers, without reference counting.
package struct CountedBatches: @unchecked Sendable {
    /// A producer's part. The thread that submits a batch writes it before, and only its last body reads it:
    /// `unfinished` orders the two.
    private struct Stream: ~Copyable {
        let part: Range<Int>
        var batch: Range<Int>
        let unfinished = Atomic<Int>(0)
    }

    private let streams: UnsafeMutablePointer<Stream>
    private let count: Int
    /// In places, from one to the next: counters of two producers are on different cache lines.
    private static let stride = 4
    /// Operations in a batch.
    private let window: Int
    /// Counts the parts that have not ended, and the calls that submit a batch and have not returned.
    private let open = EndCounter()

    /// - Returns: nil for a plan that is not refilled.
    package init?(_ plan: WorkloadPlan) {
        guard let window = plan.refillWindow else { return nil }
        self.window = window
        count = plan.parts.count
        open.begin(count)
        streams = .allocate(capacity: count * Self.stride)
        for (index, part) in plan.parts.enumerated() {
            (streams + index * Self.stride).initialize(to: Stream(part: part, batch: part.lowerBound..<part.lowerBound))
        }
    }

    package func deallocate() {
        for index in 0..<count { (streams + index * Self.stride).deinitialize(count: 1) }
        streams.deallocate()
        open.deallocate()
    }

    /// Submits the batch that follows in the part that an operation belongs to.
    @inline(__always)
    package func submitNext(_ operation: Int, by submit: (Int) -> Void) {
        open.begin(1)
        defer { open.end() }
        let stream = stream(of: operation)
        let part = stream.pointee.part
        let batch = part[stream.pointee.batch.upperBound...].prefix(window)
        stream.pointee.batch = batch
        stream.pointee.unfinished.store(batch.count, ordering: .relaxed)
        for operation in batch { submit(operation) }
    }

    /// Called as the last act of a body.
    ///
    /// - Returns: whether the caller is to submit the next batch.
    @inline(__always)
    package func didEnd(_ operation: Int, _ body: OperationBody) -> Bool {
        let stream = stream(of: operation)
        guard stream.pointee.unfinished.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else {
            return false
        }
        return didEndBatch(stream, body)
    }

    /// Waits for the end of every part.
    package func wait() { open.wait() }

    @inline(never)
    private func didEndBatch(_ stream: UnsafeMutablePointer<Stream>, _ body: OperationBody) -> Bool {
        for operation in stream.pointee.batch { body.didNotify(operation) }
        guard stream.pointee.batch.upperBound == stream.pointee.part.upperBound else { return true }
        open.end()
        return false
    }

    @inline(__always)
    private func stream(of operation: Int) -> UnsafeMutablePointer<Stream> {
        var stream = streams
        while operation >= stream.pointee.part.upperBound { stream += Self.stride }
        return stream
    }
}

/// Counts the batches of a refilled queue: each producer's part of the plan is one stream.
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
