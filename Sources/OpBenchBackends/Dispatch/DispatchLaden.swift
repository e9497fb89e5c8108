import Dispatch
import OpBenchModel

/// Closures that wait in a lane, with what they keep: memory fences.
///
/// Counted by a group, which an operation leaves when Dispatch has released its closure: what it keeps is gone when `drain`
/// returns.
final class DispatchLaden: DispatchRound, @unchecked Sendable {
    private let group = DispatchGroup()

    override func submit(_ part: Range<Int>) {
        let bytes = plan.ballast?.bytes ?? 0
        for operation in part {
            let work = body.closure(operation, payloadBytes: bytes)
            body.willSubmit(operation)
            if body.wantsNotification(operation), plan.hasCompletionBlocks {
                lane.async(work, thenNotify: notifications.block(operation, body))
            } else {
                lane.async(in: group, work)
            }
            body.didSubmit(operation)
        }
    }

    override func drain() {
        super.drain()
        group.wait()
    }
}
