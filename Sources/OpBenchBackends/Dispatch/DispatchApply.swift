import Dispatch
import OpBenchModel

/// Independent operations as the iterations of one call, which runs operations itself and returns when all have ended.
final class DispatchApply: Backend, Sendable {
    private let plan: WorkloadPlan
    private let body: OperationBody

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
    }

    static func support(_ plan: WorkloadPlan) -> Support {
        if plan.limit != nil { return .unsupported(reason: "concurrentPerform has no limit but the system's") }
        if plan.isRefill { return .unsupported(reason: "concurrentPerform has no batches that refill") }
        return .full(note: "the call that submits runs operations too, and returns when all have ended")
    }

    func build() {}

    func submit(_ part: Range<Int>) {
        // Operations are submitted when the call begins.
        body.submitTogether(part, in: plan) {}
        DispatchQueue.concurrentPerform(iterations: part.count) { [body] in body.run(part.lowerBound + $0) }
        guard body.takesStamps, plan.hasCompletionBlocks else { return }
        // The call's return notifies the caller of the end.
        for operation in part where body.wantsNotification(operation) { body.didNotify(operation) }
    }

    func release() {}
    func drain() {}
    func teardown() {}
    func suspend() {}
    func resume() {}
}
