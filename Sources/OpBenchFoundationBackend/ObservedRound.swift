import Dispatch
import OpBenchBackends

/// Operations whose completion block stands in for their observers, and calls them.
final class ObservedRound: QueueRound, @unchecked Sendable {
    private let unfinished = DispatchGroup()

    override func make(_ number: Int) -> Operation {
        let made = super.make(number)
        let count = plan.observers ?? 0
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
        if plan.observers == 0 { super.notify(made, number) }
    }

    override func drain() {
        super.drain()
        unfinished.wait()
    }
}
