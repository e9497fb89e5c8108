import OpBenchBackends
import OpBenchModel
import Synchronization

/// Operations that announce their own end, as the documentation of `start` shows.
final class AsynchronousRound: QueueRound, @unchecked Sendable {
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
