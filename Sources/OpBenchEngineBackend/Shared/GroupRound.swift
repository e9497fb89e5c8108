import OpBenchBackends
import OpBenchModel

/// BlockOperations of several blocks.
final class GroupRound: QueueRound, @unchecked Sendable {
    private let notifications = Notifications()

    override func makeOperations() {
        for group in plan.groups(of: 0..<plan.operationCount) {
            let made = BlockOperation()
            for number in group { made.addExecutionBlock { [body] in body.run(number) } }
            if body.takesStamps { made.completionBlock = notifications.block(group, body) }
            operations.append(made)
        }
    }

    override func submit(_ part: Range<Int>) {
        for group in plan.groups(of: part) {
            body.submitTogether(group, in: plan) { queue.addOperation(operations[group.lowerBound / group.count]) }
        }
    }

    override func drain() {
        super.drain()
        notifications.wait()
    }
}
