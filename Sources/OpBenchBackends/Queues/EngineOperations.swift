import OpBenchModel
import OperationEngine
import Synchronization

/// The operations that rounds on this library make. The other library's file differs only in names.
extension EngineQueue {
    static func block(_ work: @escaping Work) -> Item { OperationEngine.BlockOperation(block: work) }

    static func group(_ numbers: Range<Int>, _ body: OperationBody) -> Item {
        let operation = OperationEngine.BlockOperation()
        for number in numbers { operation.addExecutionBlock { body.run(number) } }
        return operation
    }

    static func numbered(_ number: Int, _ body: OperationBody) -> Item { Numbered(number, body) }

    static func laden(_ number: Int, _ body: OperationBody, _ payload: AnyObject) -> Item {
        Laden(number, body, payload)
    }

    static func announcing(_ number: Int, _ body: OperationBody, _ ender: EndingThread<Announcing>?) -> Item {
        Announcing(number, body, ender)
    }

    /// An operation that is a number of the plan.
    private class Numbered: OperationEngine.Operation, @unchecked Sendable {
        private let number: Int
        private let body: OperationBody

        init(_ number: Int, _ body: OperationBody) { (self.number, self.body) = (number, body) }

        override final func main() { body.run(number) }
    }

    /// The same with a payload.
    private final class Laden: Numbered, @unchecked Sendable {
        private let payload: AnyObject

        init(_ number: Int, _ body: OperationBody, _ payload: AnyObject) {
            self.payload = payload
            super.init(number, body)
        }
    }

    /// An operation that announces its own end, as the documentation of `start` shows.
    final class Announcing: OperationEngine.Operation, AnnouncingItem, @unchecked Sendable {
        private let number: Int
        private let body: OperationBody
        private unowned(unsafe) let ender: EndingThread<Announcing>?
        /// 0 before its start, 1 while it executes, 2 once it has finished.
        private let progress = Atomic<UInt8>(0)

        fileprivate init(_ number: Int, _ body: OperationBody, _ ender: EndingThread<Announcing>?) {
            (self.number, self.body, self.ender) = (number, body, ender)
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
