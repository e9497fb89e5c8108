import OpBenchModel

/// Closures that call their observers as their last act.
final class DispatchObserved: DispatchRound, @unchecked Sendable {
    private let count: Int

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        count = plan.observers ?? 0
        super.init(plan, body)
    }

    override func work(_ operation: Int) -> @Sendable () -> Void {
        guard count > 0 else { return super.work(operation) }
        let round = Unretained(self)
        let observers = (0..<count).map { _ in { @Sendable in round { $0.body.didNotice(operation) } } }
        return {
            round {
                $0.body.run(operation)
                for observer in observers { observer() }
                $0.lane.didEnd()
            }
        }
    }
}
