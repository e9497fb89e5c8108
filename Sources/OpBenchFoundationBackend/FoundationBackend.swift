import Dispatch
import OpBenchBackends
import OpBenchModel

/// Foundation's queues, used as its documentation shows.
package enum FoundationBackend {
    package static let factory = BackendFactory(
        id: .foundation, guarantees: [], ways: ways,
        refusals: [.threadPriorities: "Foundation on Linux has no threadPriority"])

    private static let ways: [Capability: Way] = {
        var ways = QueueBackend.ways
        ways[.threadPriorities] = nil
        ways[.observers] = Way(
            support: {
                .full(
                    note: $0.observers == 0
                        ? "" : "a completion block calls the observers: Foundation on Linux has no key-value observing")
            }, make: { ObservedRound($0, $1) })
        return ways
    }()
}

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
