import Dispatch
import OpBenchBackends

/// Barriers among closures. The queue's own wait does not wait for barriers, on Linux: a group does.
final class AwaitedBarrierRound: BarrierRound, @unchecked Sendable {
    private let barriers = DispatchGroup()

    override func addBarrier(_ number: Int) {
        barriers.enter()
        queue.addBarrierBlock { [body, barriers] in
            body.runBarrier(number)
            barriers.leave()
        }
    }

    override func drain() {
        super.drain()
        barriers.wait()
    }
}
