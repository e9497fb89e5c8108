import OpBenchBackends
import OpBenchModel

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
