/// Carries a barrier's block through its queue. Internal, and listed nowhere (contract P10).
///
/// A barrier does not depend on the operations before it. It is alone in a segment of its queue. The queue starts
/// nothing of a segment until everything in the earlier segments is finished. See `QueueState`.
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
