import Dispatch
import OpBenchModel

/// Work items that are performed by hand.
final class DispatchByHand: DispatchRound, @unchecked Sendable {
    private var items: [DispatchWorkItem] = []

    override func build() {
        items.reserveCapacity(plan.operationCount)
        for operation in 0..<plan.operationCount {
            let item = DispatchWorkItem(block: work(operation))
            if body.wantsNotification(operation) {
                item.notify(queue: lane.queue, execute: notifications.block(operation, body))
            }
            items.append(item)
        }
    }

    override func submit(_ part: Range<Int>) {
        lane.willSubmit(part.count)
        for operation in part {
            body.willStart(operation)
            items[operation].perform()
        }
    }

    override func teardown() { items = [] }
}
