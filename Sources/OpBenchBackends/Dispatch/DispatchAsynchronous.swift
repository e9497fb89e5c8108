import Dispatch
import OpBenchModel

/// Closures whose work goes on after they have returned, until its end is announced to a group. At a limit a slot is held
/// until then: whoever announces an end starts the next one that waits.
final class DispatchAsynchronous: DispatchRound, @unchecked Sendable {
    private let group = DispatchGroup()
    private var ender: EndingThread<Int>?
    private let lock = PlainLock()
    private var waiting: [Int] = []
    private var head = 0
    private var running = 0

    override func build() {
        guard plan.announcedEnd == .thread else { return }
        // The backend outlives the thread, which `teardown` ends.
        unowned(unsafe) let backend = self
        ender = EndingThread { backend.end($0) }
    }

    override func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            group.enter()
            if takesSlot(operation) { start(operation) }
            body.didSubmit(operation)
        }
    }

    override func drain() {
        group.wait()
        notifications.wait()
    }

    override func teardown() { ender?.dismiss() }

    /// Whether it may start now; otherwise it waits.
    private func takesSlot(_ operation: Int) -> Bool {
        guard let limit = plan.limit else { return true }
        return lock.whileLocked {
            if running < limit {
                running += 1
                return true
            }
            waiting.append(operation)
            return false
        }
    }

    private func start(_ operation: Int) {
        unowned(unsafe) let backend = self
        lane.queue.async {
            backend.body.run(operation)
            if let ender = backend.ender { ender.take(operation) } else { backend.end(operation) }
        }
    }

    private func end(_ operation: Int) {
        body.didAnnounceEnd(operation)
        if plan.limit != nil {
            let next: Int? = lock.whileLocked {
                guard head < waiting.count else {
                    running -= 1
                    return nil
                }
                head += 1
                return waiting[head - 1]
            }
            if let next { start(next) }
        }
        if body.wantsNotification(operation) {
            lane.queue.async(execute: notifications.block(operation, body))
        }
        group.leave()
    }
}
