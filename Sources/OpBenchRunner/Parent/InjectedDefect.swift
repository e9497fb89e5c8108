import OpBenchModel

/// A defect of a known size, given to the samples of the side `head`, of the backends that the program is about: by it opbench
/// proves on itself that what got worse is noticed, and its user sees a gate fail. None, unless asked for.
public struct InjectedDefect: Sendable, Codable, Equatable {
    /// More work for the same `work_ns`, relative: 0.05 is 5 %.
    public var slowdown: Double
    /// More mallocs, an operation.
    public var allocations: Int

    public init(slowdown: Double = 0, allocations: Int = 0) {
        self.slowdown = slowdown
        self.allocations = allocations
    }

    /// Makes the order for a sample worse, if it is one that the defect is for.
    func spoil(_ request: inout SampleRequest, side: Side) {
        guard side == .head, request.backend.isOwn else { return }
        request.kernel.iterationsPerNanosecond *= 1 + slowdown
        if allocations > 0 { request.injectedAllocations = allocations }
    }
}
