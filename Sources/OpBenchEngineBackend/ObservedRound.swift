import OpBenchBackends

import class OperationEngine.Observation

/// Operations with observers of `isFinished`.
final class ObservedRound: QueueRound, @unchecked Sendable {
    private var observations: [Observation] = []

    override func makeOperations() {
        observations.reserveCapacity(plan.operationCount * (plan.observers ?? 0))
        super.makeOperations()
    }

    override func make(_ number: Int) -> Operation {
        let made = super.make(number)
        for _ in 0..<(plan.observers ?? 0) {
            observations.append(made.observe(\.isFinished) { [body] _, _ in body.didNotice(number) })
        }
        return made
    }

    override func teardown() {
        observations = []
        super.teardown()
    }
}
