import OpBenchBackends
import OpBenchModel

/// One queue and one object an operation, made in `build`: what the shapes about single features start from. A subclass
/// says what is different.
class QueueRound: Backend, @unchecked Sendable {
    let plan: WorkloadPlan
    let body: OperationBody
    let queue = OperationQueue()
    /// By number; empty where `build` makes none.
    var operations: [Operation] = []
    private let notifications = Notifications()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
    }

    func build() {
        if let limit = plan.limit { queue.maxConcurrentOperationCount = limit }
        if plan.startsSuspended { queue.isSuspended = true }
        makeOperations()
    }

    func makeOperations() {
        operations.reserveCapacity(plan.operationCount)
        for number in 0..<plan.operationCount {
            let made = make(number)
            notify(made, number)
            operations.append(made)
        }
    }

    /// Sets the completion block that is timed.
    func notify(_ made: Operation, _ number: Int) {
        if body.wantsNotification(number) { made.completionBlock = notifications.block(number, body) }
    }

    func make(_ number: Int) -> Operation { NumberedOperation(number, body) }

    func submit(_ part: Range<Int>) {
        for number in part {
            body.willSubmit(number)
            queue.addOperation(operations[number])
            body.didSubmit(number)
        }
    }

    func release() { queue.isSuspended = false }

    func drain() {
        queue.waitUntilAllOperationsAreFinished()
        notifications.wait()
    }

    func teardown() { operations = [] }

    func cancel(_ part: Range<Int>) {}

    func attest() {}

    func suspend() { queue.isSuspended = true }

    func resume() { queue.isSuspended = false }
}

/// An operation that is a number of the plan.
final class NumberedOperation: Operation, @unchecked Sendable {
    private let number: Int
    private let body: OperationBody

    init(_ number: Int, _ body: OperationBody) {
        self.number = number
        self.body = body
    }

    override func main() { body.run(number) }
}

/// Barriers among closures.
class BarrierRound: QueueRound, @unchecked Sendable {
    override func makeOperations() {}

    override func submit(_ part: Range<Int>) {
        guard let barriers = plan.barriers else { return }
        for number in part {
            body.willSubmit(number)
            if barriers.isBarrier(number) {
                addBarrier(number)
            } else {
                queue.addOperation { [body] in body.runBesideOthers(number) }
            }
            body.didSubmit(number)
        }
    }

    func addBarrier(_ number: Int) { queue.addBarrierBlock { [body] in body.runBarrier(number) } }
}

/// Operations without a queue.
final class ByHandRound: QueueRound, @unchecked Sendable {
    override func make(_ number: Int) -> Operation {
        if case .block = plan.form { return BlockOperation { [body] in body.run(number) } }
        return super.make(number)
    }

    override func submit(_ part: Range<Int>) {
        for number in part {
            body.willStart(number)
            operations[number].start()
        }
    }
}

/// Operations that are cancelled.
final class CancellingRound: QueueRound, @unchecked Sendable {
    override func cancel(_ part: Range<Int>) {
        guard let cancellation = plan.cancellation else { return }
        if case .all = cancellation.call { return queue.cancelAllOperations() }
        for number in part where cancellation.isChosen[number] { operations[number].cancel() }
    }

    override func attest() {
        for (number, operation) in operations.enumerated() where operation.isCancelled && operation.isFinished {
            body.didEndCancelled(number)
        }
    }
}

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

/// Operations that wait for one another by `waitUntilFinished`.
final class WaitingRound: QueueRound, @unchecked Sendable {
    override func build() {
        super.build()
        // The backend outlives its operations, since `drain` waits for them.
        unowned(unsafe) let round = self
        body.setWait { round.operations[$0].waitUntilFinished() }
    }
}

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
