import Dispatch

/// Barriers on a concurrent queue, by its own flag; on a serial queue everything is one.
final class DispatchBarriers: DispatchRound, @unchecked Sendable {
    private let group = DispatchGroup()

    override func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            if plan.isBarrier(operation) {
                lane.queue.async(group: group, flags: .barrier) { [body] in body.runBarrier(operation) }
            } else {
                lane.queue.async(group: group) { [body] in body.runBesideOthers(operation) }
            }
            body.didSubmit(operation)
        }
    }

    override func drain() { group.wait() }
}
