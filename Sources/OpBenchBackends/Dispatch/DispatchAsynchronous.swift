import Dispatch
import OpBenchModel

/// Closures whose work continues after they have returned, until its end is announced. At a limit a slot is held
/// until then: the thread that announces an end starts the next waiting operation.
final class DispatchAsynchronous: DispatchRound, @unchecked Sendable {
    private var ender: EndingThread<Int>?
    private let lock = PlainLock()
    private var waiting: [Int] = []
    private var head = 0
    private var running = 0

    override func build() {
        super.build()
        countEnds()
        guard plan.announcedEnd == .thread else { return }
        // The backend outlives the thread, which `teardown` ends.
        unowned(unsafe) let backend = self
        ender = EndingThread { backend.end($0) }
    }

    override func submit(_ part: Range<Int>) {
        begin(part.count)
        for operation in part {
            body.willSubmit(operation)
            if takesSlot(operation) { start(operation) }
            body.didSubmit(operation)
        }
    }

    override func teardown() {
        ender?.dismiss()
        super.teardown()
    }

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
        let backend = Unretained(self)
        lane.queue.async {
            backend {
                $0.body.run(operation)
                if let ender = $0.ender { ender.take(operation) } else { $0.end(operation) }
            }
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
        end()
    }
}
