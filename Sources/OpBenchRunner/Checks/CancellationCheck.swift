import OpBenchBackends
import OpBenchModel

/// The outcome of a plan whose operations are cancelled: every operation ended once, in a way that it may.
///
/// The slot of an operation counts its runs in its lower half, and in its upper half the times that it ended although, or
/// because, it was cancelled. One that was not chosen ran. One that was chosen before anything could begin did not. One
/// that was chosen while the queue was running did either, or was cancelled while it ran.
struct CancellationCheck {
    let plan: WorkloadPlan
    let cancellation: Cancellation

    /// In words; empty if there are none.
    func violations(of body: OperationBody) -> [String] {
        var (lost, repeated, ranCancelled, unasked) = (0, 0, 0, 0)
        for operation in 0..<plan.operationCount {
            let slot = body.slot(operation)
            let runs = slot % OperationBody.cancelledMark
            let cancellations = slot / OperationBody.cancelledMark
            let isChosen = cancellation.isChosen[operation]
            if runs == 0 && cancellations == 0 { lost += 1 }
            if runs > 1 || cancellations > 1 { repeated += 1 }
            if isChosen && cancellation.isBeforeRelease && runs > 0 { ranCancelled += 1 }
            if !isChosen && cancellations > 0 { unasked += 1 }
        }
        var violations: [String] = []
        if lost > 0 { violations.append("\(lost) operations neither ran nor ended as cancelled") }
        if repeated > 0 { violations.append("\(repeated) operations ran or ended as cancelled more than once") }
        if ranCancelled > 0 { violations.append("\(ranCancelled) operations ran, cancelled before the queue did") }
        if unasked > 0 { violations.append("\(unasked) operations were cancelled without a call that cancels them") }
        return violations
    }
}
