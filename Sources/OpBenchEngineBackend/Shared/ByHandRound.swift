import OpBenchBackends
import OpBenchModel

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
