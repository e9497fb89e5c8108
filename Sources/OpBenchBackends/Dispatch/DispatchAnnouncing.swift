import Dispatch
import OpBenchModel

/// Closures that call their observers as their last act.
final class DispatchObserved: DispatchRound, @unchecked Sendable {
    override func work(_ operation: Int) -> @Sendable () -> Void {
        let count = plan.observers ?? 0
        guard count > 0 else { return super.work(operation) }
        let observers = (0..<count).map { _ in { @Sendable [body] in body.didNotice(operation) } }
        return { [body] in
            body.run(operation)
            for observer in observers { observer() }
        }
    }
}

/// One closure a group, which runs the blocks by `concurrentPerform` and ends when all have.
final class DispatchGroups: DispatchRound, @unchecked Sendable {
    override func submit(_ part: Range<Int>) {
        for group in plan.groups(of: part) {
            let work: @Sendable () -> Void = { [body] in
                DispatchQueue.concurrentPerform(iterations: group.count) { body.run(group.lowerBound + $0) }
            }
            body.submitTogether(group, in: plan) {
                if body.takesStamps {
                    lane.async(work, thenNotify: notifications.block(group, body))
                } else {
                    lane.async(work)
                }
            }
        }
    }
}

/// Work items that are performed by hand.
final class DispatchByHand: DispatchRound, @unchecked Sendable {
    private var items: [DispatchWorkItem] = []

    override func build() {
        items.reserveCapacity(plan.operationCount)
        for operation in 0..<plan.operationCount {
            let item = DispatchWorkItem(block: work(operation))
            if body.wantsNotification(operation) {
                item.notify(queue: lane.queue, execute: notifications.block(operation, body))
            }
            items.append(item)
        }
    }

    override func submit(_ part: Range<Int>) {
        for operation in part {
            body.willStart(operation)
            items[operation].perform()
        }
    }

    override func teardown() { items = [] }
}

/// Barriers on a concurrent queue, by its own flag; on a serial queue everything is one.
final class DispatchBarriers: DispatchRound, @unchecked Sendable {
    private let group = DispatchGroup()

    override func submit(_ part: Range<Int>) {
        for operation in part {
            body.willSubmit(operation)
            if plan.isBarrier(operation) {
                lane.queue.async(group: group, flags: .barrier) { [body] in body.runBarrier(operation) }
            } else {
                lane.queue.async(group: group) { [body] in body.runBesideOthers(operation) }
            }
            body.didSubmit(operation)
        }
    }

    override func drain() { group.wait() }
}

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
