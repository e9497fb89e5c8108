import OpBenchBackends
import OpBenchModel

/// Operations that keep a payload, in every form of submission. Closures are made, with their payloads, as they are
/// submitted, and objects in `build`.
final class LadenRound: QueueRound, @unchecked Sendable {
    private let payloadBytes: Int

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        payloadBytes = plan.ballast?.bytes ?? 0
        super.init(plan, body)
    }

    override func makeOperations() {
        if case .closure = plan.form { return }
        super.makeOperations()
    }

    override func make(_ number: Int) -> Operation {
        if case .block = plan.form { return BlockOperation(block: body.closure(number, payloadBytes: payloadBytes)) }
        return payloadBytes > 0 ? Laden(number, body, Payload.make(bytes: payloadBytes)) : super.make(number)
    }

    override func submit(_ part: Range<Int>) {
        guard case .closure = plan.form else { return super.submit(part) }
        for number in part {
            body.willSubmit(number)
            queue.addOperation(body.closure(number, payloadBytes: payloadBytes))
            body.didSubmit(number)
        }
    }

    /// An operation that is a number of the plan and has something to carry.
    private final class Laden: Operation, @unchecked Sendable {
        private let number: Int
        private let body: OperationBody
        private let payload: AnyObject

        init(_ number: Int, _ body: OperationBody, _ payload: AnyObject) {
            self.number = number
            self.body = body
            self.payload = payload
        }

        override func main() { body.run(number) }
    }
}
