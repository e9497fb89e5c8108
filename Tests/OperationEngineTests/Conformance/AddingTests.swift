import OperationEngine
import TestSupport
import Testing

/// A thread that announces the end of an operation does not wait for code of the user that the adding thread is in:
/// that may be waiting for a lock which the announcing thread holds.
@Suite("M: adding, and what happens meanwhile", .blocking)
struct AddingTests {
    /// Ends an operation on another thread, and returns once the announcement is made.
    private static func endElsewhere(_ operation: AsynchronousOperation) {
        let announced = Gate("the end is announced")
        onNewThread {
            operation.end()
            announced.open()
        }
        precondition(announced.wait())
    }

    @Test(
        "an observer that hears beforehand may wait for the end of what is added", .contract("D20", "D23", "C12"),
        arguments: [1, 3])
    func observedBefore(count: Int) async {
        await #expect(processExitsWith: .success) { [count] in
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let queue = makeQueue()
            let operations = (0..<count).map { _ in AsynchronousOperation() }
            let heard = Counter()
            let token = queue.observe(\.operationCount, options: .prior) { _, change in
                heard.add()
                if change.isPrior, !operations[0].isFinished { Self.endElsewhere(operations[0]) }
            }
            if count == 1 {
                queue.addOperation(operations[0])
            } else {
                synchronously { queue.addOperations(operations, waitUntilFinished: false) }
            }
            #expect(reports.entries == [.addFinished] && heard.value == 1)
            #expect(queue.operationCount == 0 && operations.allSatisfy { $0.starts.value == 0 })
            withExtendedLifetime(token) {}
        }
    }

    @Test("observers are not notified of what is rejected", .contract("M5", "M6", "D23"), arguments: [false, true])
    func refusedUntold(isDoubled: Bool) async {
        await #expect(processExitsWith: .success) { [isDoubled] in
            let reports = Recorder<Misuse>()
            Misuse.handler = { reports.append($0) }
            let queue = makeQueue(suspended: true)
            let heard = Counter()
            let token = queue.observe(\.operations, options: .prior) { _, _ in heard.add() }
            let (operation, finished) = (MainOperation(), MainOperation())
            finished.start()
            synchronously {
                queue.addOperations([operation, isDoubled ? operation : finished], waitUntilFinished: false)
            }
            if !isDoubled { queue.addOperation(finished) }
            let expected: [Misuse] = isDoubled ? [.addInQueue] : [.addFinished, .addFinished]
            #expect(reports.entries == expected && heard.value == 0 && queue.operationCount == 0)
            queue.addOperation(operation)
            #expect(heard.value == 2 && queue.operationCount == 1)
            queue.isSuspended = false
            drains(queue)
            withExtendedLifetime(token) {}
        }
    }
}
