import Foundation
import OpBenchModel
import Synchronization

/// Operations whose completion block stands in for their observers, and calls them.
final class FoundationObserved: FoundationRound, @unchecked Sendable {
    private let unfinished = DispatchGroup()

    override func make(_ number: Int) -> Operation {
        let made = super.make(number)
        let count = plan.observers ?? 0
        guard count > 0 else { return made }
        let observers = (0..<count).map { _ in { @Sendable [body] in body.didNotice(number) } }
        unfinished.enter()
        made.completionBlock = { [unfinished, body] in
            if body.wantsNotification(number) { body.didNotify(number) }
            for observer in observers { observer() }
            unfinished.leave()
        }
        return made
    }

    override func notify(_ made: Operation, _ number: Int) {
        if plan.observers == 0 { super.notify(made, number) }
    }

    override func drain() {
        super.drain()
        unfinished.wait()
    }
}

/// Barriers among closures. The queue's own wait does not wait for barriers, on Linux: a group does.
final class FoundationBarriers: FoundationRound, @unchecked Sendable {
    private let barriers = DispatchGroup()

    override func makeOperations() {}

    override func submit(_ part: Range<Int>) {
        for number in part {
            body.willSubmit(number)
            if plan.isBarrier(number) {
                barriers.enter()
                queue.addBarrierBlock { [body, barriers] in
                    body.runBarrier(number)
                    barriers.leave()
                }
            } else {
                queue.addOperation { [body] in body.runBesideOthers(number) }
            }
            body.didSubmit(number)
        }
    }

    override func drain() {
        super.drain()
        barriers.wait()
    }
}

/// BlockOperations of several blocks.
final class FoundationGroups: FoundationRound, @unchecked Sendable {
    private let notifications = Notifications()

    override func makeOperations() {
        for group in plan.groups(of: 0..<plan.operationCount) {
            let made = BlockOperation()
            for number in group { made.addExecutionBlock { [body] in body.run(number) } }
            if body.takesStamps { made.completionBlock = notifications.block(group, body) }
            operations.append(made)
        }
    }

    override func submit(_ part: Range<Int>) {
        for group in plan.groups(of: part) {
            body.submitTogether(group, in: plan) { queue.addOperation(operations[group.lowerBound / plan.groupSize]) }
        }
    }

    override func drain() {
        super.drain()
        notifications.wait()
    }
}

/// Operations without a queue.
final class FoundationByHand: FoundationRound, @unchecked Sendable {
    override func make(_ number: Int) -> Operation {
        plan.form == .block ? BlockOperation { [body] in body.run(number) } : super.make(number)
    }

    override func submit(_ part: Range<Int>) {
        for number in part {
            body.willStart(number)
            operations[number].start()
        }
    }
}

/// Operations that announce their own end, as the documentation of `start` shows.
final class FoundationAsynchronous: FoundationRound, @unchecked Sendable {
    private let ender: EndingThread<Announcing>?

    override init(_ plan: WorkloadPlan, _ body: OperationBody) {
        ender = plan.announcedEnd == .thread ? EndingThread { $0.end() } : nil
        super.init(plan, body)
    }

    override func make(_ number: Int) -> Operation { Announcing(number, body, ender) }

    override func teardown() {
        ender?.dismiss()
        super.teardown()
    }

    private final class Announcing: Operation, @unchecked Sendable {
        private let number: Int
        private let body: OperationBody
        private unowned(unsafe) let ender: EndingThread<Announcing>?
        /// 0 before its start, 1 while it executes, 2 once it has finished.
        private let progress = Atomic<UInt8>(0)

        init(_ number: Int, _ body: OperationBody, _ ender: EndingThread<Announcing>?) {
            self.number = number
            self.body = body
            self.ender = ender
        }

        override var isAsynchronous: Bool { true }
        override var isExecuting: Bool { progress.load(ordering: .acquiring) == 1 }
        override var isFinished: Bool { progress.load(ordering: .acquiring) == 2 }

        override func start() {
            willChangeValue(forKey: "isExecuting")
            progress.store(1, ordering: .releasing)
            didChangeValue(forKey: "isExecuting")
            body.run(number)
            if let ender { ender.take(self) } else { end() }
        }

        func end() {
            body.didAnnounceEnd(number)
            willChangeValue(forKey: "isExecuting")
            willChangeValue(forKey: "isFinished")
            progress.store(2, ordering: .releasing)
            didChangeValue(forKey: "isFinished")
            didChangeValue(forKey: "isExecuting")
        }
    }
}
