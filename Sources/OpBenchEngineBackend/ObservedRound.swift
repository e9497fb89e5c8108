import OpBenchBackends
import OpBenchModel

import class OperationEngine.Observation

/// Operations with observers of `isFinished`.
final class ObservedRound: QueueRound, @unchecked Sendable {
    private let count: Int
    private var observations: [Observation] = []

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        count = plan.observers ?? 0
        super.init(plan, body)
    }

    override func makeOperations() {
        observations.reserveCapacity(plan.operationCount * count)
        super.makeOperations()
    }

    override func make(_ number: Int) -> Operation {
        let made = super.make(number)
        for _ in 0..<count {
            observations.append(made.observe(\.isFinished) { [body] _, _ in body.didNotice(number) })
        }
        return made
    }

    override func teardown() {
        observations = []
        super.teardown()
    }
}
