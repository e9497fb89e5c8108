import Dispatch
import OpBenchModel

/// One closure a group, which runs the blocks by `concurrentPerform` and ends when all have.
final class DispatchGroups: DispatchRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        let round = Unretained(self)
        for group in plan.groups(of: part) {
            let work: @Sendable () -> Void = {
                round { round in
                    DispatchQueue.concurrentPerform(iterations: group.count) { round.body.run(group.lowerBound + $0) }
                    round.lane.didEnd()
                }
            }
            lane.willSubmit(1)
            body.submitTogether(group, in: plan) {
                if body.takesStamps {
                    lane.async(work, thenNotify: notifications.block(group, body))
                } else {
                    lane.async(work)
                }
            }
        }
    }
}
