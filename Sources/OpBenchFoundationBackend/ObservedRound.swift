import Dispatch
import OpBenchBackends
import OpBenchModel

/// Operations whose completion block stands in for their observers, and calls them.
final class ObservedRound: QueueRound, @unchecked Sendable {
    private let count: Int
    private let unfinished = DispatchGroup()

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        count = plan.observers ?? 0
        super.init(plan, body)
    }

    override func make(_ number: Int) -> Operation {
        let made = super.make(number)
        guard count > 0 else { return made }
        let observers = (0..<count).map { _ in { @Sendable [body] in body.didNotice(number) } }
        unfinished.enter()
        made.completionBlock = { [unfinished, body] in
            if body.wantsNotification(number) { body.didNotify(number) }
            for observer in observers { observer() }
            unfinished.leave()
        }
        return made
    }

    override func notify(_ made: Operation, _ number: Int) {
        if count == 0 { super.notify(made, number) }
    }

    override func drain() {
        super.drain()
        unfinished.wait()
    }
}
