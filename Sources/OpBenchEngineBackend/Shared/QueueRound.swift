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
