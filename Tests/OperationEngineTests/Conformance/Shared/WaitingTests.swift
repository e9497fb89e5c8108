import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("O: waiting", .blocking)
struct WaitingTests {
    @Test("waitUntilFinished blocks until the finish, and returns at once after it", .contract("O1"))
    func waitForOne() {
        let queue = makeQueue()
        let blocker = Blocker()
        let returned = Gate("the wait returns")
        blocker.occupy(queue)
        let waiting = Gate("the waiter is about to wait")
        let waiter = makeQueue()
        waiter.addOperation {
            waiting.open()
            blocker.operation.waitUntilFinished()
            if blocker.operation.isFinished { returned.open() }
        }
        waiting.wait()
        #expect(!returned.isOpen)
        blocker.release.open()
        returned.wait()
        finishes(blocker.operation)
    }

    @Test("many waiters all wake", .contract("O2"))
    func manyWaiters() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let woken = Counter()
        let operation = blocker.operation
        let arriving = Counter()
        completes("32 waiters") {
            onThreads(32) { _ in
                arriving.add()
                if arriving.value == 32 { blocker.release.open() }
                operation.waitUntilFinished()
                woken.add()
            }
        }
        #expect(woken.value == 32)
        drains(queue)
    }

    @Test("waiting for all includes operations added meanwhile", .contract("O3"))
    func waitForAll() {
        let queue = makeQueue()
        let runs = Counter()
        for _ in 0..<20 {
            queue.addOperation {
                queue.addOperation {
                    queue.addOperation { runs.add() }
                    runs.add()
                }
                runs.add()
            }
        }
        drains(queue)
        #expect(runs.value == 60)
    }

    @Test("waiting for an empty queue returns at once", .contract("O4"))
    func emptyQueue() {
        drains(OperationQueue())
        let suspended = makeQueue(suspended: true)
        drains(suspended)
    }

    @Test("an operation started by hand can be waited for from another thread", .contract("O1"))
    func manualOperation() {
        let operation = MainOperation()
        onThreads(2) { thread in
            if thread == 0 { operation.start() } else { operation.waitUntilFinished() }
        }
        #expect(operation.isFinished)
    }
}
