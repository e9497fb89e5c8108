import Foundation
import TestSupport
import Testing

/// The behaviour of Foundation on Linux where the engine differs, as far as tests can show it.
///
/// `foundationDifferences` lists all of it in words. A failure here means that Foundation has changed: move the test of
/// the line into the shared folder, and its line out of the list.
@Suite("Where Foundation differs", .blocking)
struct DifferenceTests {
    @Test("Foundation's description does not show the name", .contract("A10"))
    func description() {
        let operation = Operation()
        operation.name = "reader of pages"
        #expect(!operation.description.contains("reader of pages"))
    }

    @Test("a dependency added after the finish makes Foundation's operation unready", .contract("B3", "E19"))
    func dependencyAfterFinish() {
        let operation = Operation()
        operation.start()
        operation.addDependency(Operation())
        #expect(operation.isFinished && !operation.isReady)
    }

    @Test("Foundation never ends what was cancelled before its main and keeps its own end", .contract("C14"))
    func cancelledWithOwnEnd() {
        let operation = OwnEndStyle.main.make()
        let queue = makeQueue()
        operation.cancel()
        queue.addOperation(operation)
        // The only evidence that nothing comes is that nothing comes.
        _ = Guarded(false).wait(within: .milliseconds(500)) { $0 }
        #expect(queue.operationCount == 1 && operation.mains.value == 0)
        operation.end()
        drains(queue)
    }

    @Test("removing an unfinished dependency never makes Foundation's dependent ready", .contract("E9", "E13"))
    func removeUnfinished() {
        let (dependency, dependent) = (Operation(), Operation())
        dependent.addDependency(dependency)
        dependent.removeDependency(dependency)
        #expect(dependent.dependencies.isEmpty && !dependent.isReady)
    }

    @Test("Foundation hangs the caller of a self-dependency", .contract("E17"))
    func selfDependency() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let operation = Operation()
            Thread.detachNewThread {
                operation.addDependency(operation)
                exit(8)
            }
            // The only evidence of a hang is that nothing comes.
            _ = Guarded(false).wait(within: .milliseconds(500)) { $0 }
            exit(7)
        }
    }

    @Test("Foundation touches dependents that were freed", .contract("E21"))
    func freedDependents() async {
        await #expect(processExitsWith: .failure) {
            for _ in 0..<1_000 {
                let dependency = Operation()
                for _ in 0..<100 { Operation().addDependency(dependency) }
                dependency.start()
            }
        }
    }

    @Test("Foundation overflows the stack when a long chain is released", .contract("E22"))
    func releaseChain() async {
        await #expect(processExitsWith: .failure) {
            var last = Operation()
            for _ in 0..<300_000 {
                let next = Operation()
                next.addDependency(last)
                last = next
            }
            last = Operation()
        }
    }

    @Test("Foundation runs operations that became ready late in the order of adding", .contract("G6"))
    func lateReady() {
        let log = Recorder<Int>()
        let queue = makeQueue(limit: 1, suspended: true)
        let dependency = MainOperation()
        let operations = numbered(3, into: log)
        operations[0].addDependency(dependency)
        queue.addOperations(operations, waitUntilFinished: false)
        dependency.start()
        queue.isSuspended = false
        drains(queue)
        #expect(log.entries == [0, 1, 2])
    }

    @Test("Foundation keeps the completion block and what it captures", .contract("I6", "Q5"))
    func completionBlockKept() {
        let released = Counter()
        let ran = Gate("the completion block runs")
        let operation = Operation()
        do {
            let token = Token(released: released)
            operation.completionBlock = {
                token.hold()
                ran.open()
            }
        }
        operation.start()
        ran.wait()
        #expect(operation.completionBlock != nil && released.value == 0)
    }

    @Test("a cancelled operation in a full queue of Foundation's waits for a slot", .contract("J9"))
    func cancelledNeedsSlot() {
        let queue = makeQueue(limit: 1)
        let blocker = Blocker()
        blocker.occupy(queue)
        let operation = MainOperation()
        queue.addOperation(operation)
        operation.cancel()
        let other = makeQueue()
        for _ in 0..<100 { other.addOperation {} }
        drains(other)
        #expect(!operation.isFinished)
        blocker.release.open()
        drains(queue)
    }

    @Test("Foundation runs the blocks of an operation one after another on one thread", .contract("K2", "K4", "K5"))
    func sequentialBlocks() {
        let threads = Recorder<Int32>()
        let operation = BlockOperation()
        for _ in 0..<4 { operation.addExecutionBlock { threads.append(ThreadFacts.id) } }
        operation.start()
        #expect(threads.entries == Array(repeating: ThreadFacts.id, count: 4))
    }

    @Test(
        "Foundation keeps the blocks after they have run, and main called again runs them again",
        .contract("B11", "K13"))
    func blocksKept() {
        let (released, runs) = (Counter(), Counter())
        let operation = BlockOperation()
        do {
            let token = Token(released: released)
            operation.addExecutionBlock {
                token.hold()
                runs.add()
            }
        }
        operation.start()
        #expect(operation.executionBlocks.count == 1 && released.value == 0)
        operation.main()
        #expect(runs.value == 2)
    }

    @Test("a barrier added to an empty queue of Foundation's runs although the queue is suspended", .contract("P8"))
    func suspendedBarrier() {
        let queue = makeQueue(suspended: true)
        let ran = Gate("the barrier runs")
        queue.addBarrierBlock { ran.open() }
        #expect(ran.wait())
    }

    @Test("a barrier added to Foundation's empty main queue runs on another thread", .contract("P9"))
    func barrierOnMain() {
        let onMain = Guarded<Bool?>(nil)
        OperationQueue.main.addBarrierBlock { onMain.withLock { $0 = ThreadFacts.isMain } }
        #expect(onMain.wait { $0 != nil } && onMain.read() == false)
    }

    @Test(
        "Foundation traps on the same misuse", .contract("B5", "B6", "B9", "B10", "K7", "M5", "M6", "N5"),
        arguments: FoundationOffence.allCases)
    func traps(offence: FoundationOffence) async {
        await #expect(processExitsWith: .failure) { [offence] in offence.commit() }
    }
}

/// Misuse on which both agree that it is an error.
enum FoundationOffence: String, CaseIterable, Codable, Sendable {
    case startNotReady, startExecuting, startInQueue, addExecuting, addFinished, addInQueue, batch, negativeLimit
    case lateBlock, startWhenAskedByStart

    func commit() {
        let queue = makeQueue(suspended: true)
        let operation = MainOperation()
        switch self {
        case .startNotReady:
            operation.addDependency(Operation())
            operation.start()
        case .startExecuting: MainOperation { $0.start() }.start()
        case .startInQueue:
            queue.addOperation(operation)
            operation.start()
        case .addExecuting: MainOperation { queue.addOperation($0) }.start()
        case .addFinished:
            operation.start()
            queue.addOperation(operation)
        case .addInQueue:
            queue.addOperation(operation)
            queue.addOperation(operation)
        case .batch: queue.addOperations([operation, Operation(), operation], waitUntilFinished: false)
        case .negativeLimit: queue.maxConcurrentOperationCount = -2
        case .lateBlock:
            let blocks = BlockOperation {}
            blocks.start()
            blocks.addExecutionBlock {}
        case .startWhenAskedByStart:
            final class Unguarded: Operation, @unchecked Sendable {
                override var isReady: Bool {
                    if super.isReady, !isExecuting, !isFinished { start() }
                    return super.isReady
                }
            }
            Unguarded().start()
        }
    }
}
