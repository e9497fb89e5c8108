/// What carries a barrier's block through its queue: internal, and listed nowhere (contract P10).
///
/// A barrier is not an operation that depends on all before it: it is alone in a segment of its queue, and the queue
/// starts nothing of a segment before all of the earlier ones is finished. See `QueueState`.
final class BarrierOperation: Operation, @unchecked Sendable {
    /// Owned by the thread that runs or finishes the operation; released when it is finished.
    @exclusivity(unchecked) private var block: (@Sendable () -> Void)?

    init(_ block: @escaping @Sendable () -> Void) {
        self.block = block
        super.init()
        state.setIsBarrier()
    }

    override func main() { block?() }

    override func executionEnded(_ last: OperationState.Word) { block = nil }
}

extension Operation {
    /// Whether the operation is a barrier's carrier.
    @inline(__always)
    final var isBarrier: Bool { state.load().has(OperationState.Word.isBarrier) }
}
