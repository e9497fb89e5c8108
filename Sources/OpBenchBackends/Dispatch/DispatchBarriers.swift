import Dispatch
import OpBenchModel

/// Barriers on a concurrent queue, by its own flag; on a serial queue everything is one.
final class DispatchBarriers: DispatchRound, @unchecked Sendable {
    static func support(_ plan: WorkloadPlan) -> Support {
        if plan.limit ?? 1 > 1 {
            return .unsupported(reason: "a queue with barriers has no limit between one and the system's choice")
        }
        return .full(note: plan.limit == nil ? "" : "on a serial queue everything is a barrier")
    }

    override func submit(_ part: Range<Int>) {
        guard let barriers = plan.barriers else { return }
        let round = Unretained(self)
        lane.willSubmit(part.count)
        for operation in part {
            body.willSubmit(operation)
            if barriers.isBarrier(operation) {
                lane.queue.async(flags: .barrier) {
                    round {
                        $0.body.runBarrier(operation)
                        $0.lane.didEnd()
                    }
                }
            } else {
                lane.async {
                    round {
                        $0.body.runBesideOthers(operation)
                        $0.lane.didEnd()
                    }
                }
            }
            body.didSubmit(operation)
        }
    }
}
