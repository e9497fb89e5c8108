import OpBenchBackends

/// Operations that wait for one another by `waitUntilFinished`.
final class WaitingRound: QueueRound, @unchecked Sendable {
    override func build() {
        super.build()
        // The backend outlives its operations, since `drain` waits for them.
        unowned(unsafe) let round = self
        body.setWait { round.operations[$0].waitUntilFinished() }
    }
}
