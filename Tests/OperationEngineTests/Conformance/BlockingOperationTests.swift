import Glibc
import OperationEngine
import TestSupport
import Testing

@Suite("M, N, O: blocking inside operations", .blocking, .serialized)
struct BlockingOperationTests {
    @Test(
        "as many operations as an explicit limit allows meet, beyond the cores", .contract("N13"), arguments: [32, 100])
    func rendezvous(count: Int) {
        let queue = makeQueue(limit: count)
        let meeting = Rendezvous(count)
        let met = Counter()
        for _ in 0..<count { queue.addOperation { if meeting.meet() { met.add() } } }
        drains(queue)
        #expect(met.value == count)
    }

    @Test("the greatest integer is a legal limit", .contract("N13"))
    func greatestLimit() {
        let queue = makeQueue(limit: .max)
        #expect(queue.maxConcurrentOperationCount == .max)
        let meeting = Rendezvous(40)
        for _ in 0..<40 { queue.addOperation { meeting.meet() } }
        drains(queue)
        #expect(meeting.arrivals == 40)
    }

    @Test("at the default limit, 32 operations on one semaphore are freed by the 33rd", .contract("N13"))
    func freedByTheLast() {
        let queue = makeQueue()
        let permits = Permits()
        for _ in 0..<32 { queue.addOperation { permits.wait() } }
        queue.addOperation { permits.signal(32) }
        drains(queue)
        #expect(queue.operationCount == 0)
    }

    @Test("operations that each sleep for a moment, shorter than the monitor's looks, have as many threads as they may")
    func momentsOfSleep() {
        let queue = makeQueue(limit: 8)
        let level = HighWater()
        // On two threads a round takes half a second or more; most operations find the peak reached, and return at once. On a
        // busy machine the monitor may hardly run in that time.
        let patience = Patience()
        repeat {
            for _ in 0..<2_000 {
                queue.addOperation {
                    if level.peak < 8 { level.inside { _ = usleep(500) } }
                }
            }
            drains(queue)
        } while level.peak < 8 && !patience.isOver(after: .seconds(10))
        #expect(level.peak == 8)
    }

    @Test("threads are bounded, whatever the limit", .contract("N13", "M13"))
    func absoluteCap() {
        let queue = makeQueue(limit: 1_000)
        let level = HighWater()
        let release = Gate("the blocked operations may end")
        let begun = Counter()
        for _ in 0..<600 {
            queue.addOperation {
                level.inside {
                    begun.add()
                    release.wait()
                }
            }
        }
        begun.wait(for: 300)
        release.open()
        drains(queue)
        #expect(begun.value == 600)
        #expect(level.peak <= 512)
    }

    @Test("waits nested through queues of limit 1", .contract("O6"))
    func nestedThroughSerialQueues() {
        let depth = 40
        let ended = Counter()
        let queues = (0..<depth).map { _ in makeQueue(limit: 1) }
        @Sendable func descend(_ level: Int) {
            guard level < depth else { return }
            let child = MainOperation { _ in descend(level + 1) }
            queues[level].addOperation(child)
            child.waitUntilFinished()
            ended.add()
        }
        completes("40 nested waits") { descend(0) }
        #expect(ended.value == depth)
    }

    @Test("waits nested in one queue at the default limit", .contract("O6"))
    func nestedInOneQueue() {
        let depth = 150
        let queue = makeQueue()
        let ended = Counter()
        @Sendable func descend(_ level: Int) {
            guard level < depth else { return }
            let child = MainOperation { _ in descend(level + 1) }
            queue.addOperation(child)
            child.waitUntilFinished()
            ended.add()
        }
        queue.addOperation { descend(0) }
        drains(queue)
        #expect(ended.value == depth)
    }

    @Test("a wait for a whole other queue inside operations", .contract("O6"))
    func waitForOtherQueueInside() {
        let queue = makeQueue()
        let runs = Counter()
        for _ in 0..<50 {
            queue.addOperation {
                let own = makeQueue(limit: 2)
                for _ in 0..<10 { own.addOperation { runs.add() } }
                own.waitUntilAllOperationsAreFinished()
            }
        }
        drains(queue)
        #expect(runs.value == 500)
    }

    @Test("an operation waits for later ones of its own queue, which were chosen in the same run", .contract("O6"))
    func waitForLaterOnes() {
        let queue = makeQueue(limit: 2, suspended: true)
        let last = MainOperation()
        let operations = (0..<50).map { _ in MainOperation() }
        let waiter = MainOperation { _ in last.waitUntilFinished() }
        queue.addOperations([waiter] + operations + [last], waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(waiter.isFinished && last.isFinished)
    }

    @Test("a queue full of blocked operations does not hold up another", .contract("M14", "N13"))
    func blockedQueueAndAnother() {
        let blocked = makeQueue()
        let release = Gate("the blocked operations may end")
        for _ in 0..<100 { blocked.addOperation { release.wait() } }
        let other = makeQueue()
        let serial = makeQueue(limit: 1)
        let runs = Counter()
        for _ in 0..<200 {
            other.addOperation { runs.add() }
            serial.addOperation { runs.add() }
        }
        drains(other)
        drains(serial)
        #expect(runs.value == 400 && blocked.operationCount == 100)
        release.open()
        drains(blocked)
    }

    @Test("the limit holds when operations block and wait inside", .contract("N2", "N13"), arguments: [1, 3])
    func limitHoldsWhenBlocking(limit: Int) {
        let queue = makeQueue(limit: limit)
        let helper = makeQueue()
        let level = HighWater()
        for _ in 0..<100 {
            queue.addOperation {
                level.inside {
                    let child = MainOperation()
                    helper.addOperation(child)
                    child.waitUntilFinished()
                }
            }
        }
        drains(queue)
        #expect(level.peak <= limit)
    }
}

@Suite("O: timed waits", .blocking)
struct TimedWaitTests {
    @Test("a timed wait for an operation returns false on timeout, true after the finish", .contract("O7"))
    func operation() {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        #expect(!blocker.operation.waitUntilFinished(timeout: .milliseconds(1)))
        #expect(!blocker.operation.waitUntilFinished(timeout: .zero))
        #expect(!blocker.operation.waitUntilFinished(timeout: .seconds(-5)))
        blocker.release.open()
        #expect(blocker.operation.waitUntilFinished(timeout: HangLimit.wait))
        #expect(blocker.operation.waitUntilFinished(timeout: .zero))
    }

    @Test("a timed wait for a queue ends well when the queue is empty, and not before", .contract("O3", "O7"))
    func queue() {
        let queue = makeQueue()
        #expect(queue.waitUntilFinished(timeout: .zero))
        let blocker = Blocker()
        blocker.occupy(queue)
        #expect(!queue.waitUntilFinished(timeout: .milliseconds(1)))
        blocker.release.open()
        #expect(queue.waitUntilFinished(timeout: HangLimit.wait))
    }

    @Test(
        "a timeout that is too long never comes", .contract("O7"),
        arguments: [
            .nanoseconds(Int64.max), .nanoseconds(Int64.max - 1), .seconds(Int64.max), .seconds(1e19), .seconds(1.7e20),
            Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
        ] as [Duration])
    func longest(timeout: Duration) {
        let queue = makeQueue()
        let blocker = Blocker()
        blocker.occupy(queue)
        let ends = Recorder<Bool>()
        let waiters = Counter()
        onNewThread {
            waiters.add()
            ends.append(blocker.operation.waitUntilFinished(timeout: timeout))
            ends.append(queue.waitUntilFinished(timeout: timeout))
            waiters.add()
        }
        waiters.wait(for: 1)
        blocker.release.open()
        waiters.wait(for: 2)
        #expect(ends.entries == [true, true])
    }

    @Test(
        "a timeout before the beginning of time has passed", .contract("O7"),
        arguments: [
            .nanoseconds(Int64.min), .nanoseconds(Int64.min + 1), .seconds(Int64.min), .seconds(-1 << 40),
            .seconds(-1e19), .seconds(-1.7e20), Duration(secondsComponent: .min, attosecondsComponent: 0),
        ] as [Duration])
    func longPast(timeout: Duration) {
        let queue = makeQueue(suspended: true)
        let operation = MainOperation()
        queue.addOperation(operation)
        #expect(!operation.waitUntilFinished(timeout: timeout))
        #expect(!queue.waitUntilFinished(timeout: timeout))
        queue.isSuspended = false
        drains(queue)
        #expect(operation.waitUntilFinished(timeout: timeout))
    }

    @Test("an operation that waits for a later one of its own serial queue waits in vain", .contract("O5"))
    func laterInSerialQueue() {
        let queue = makeQueue(limit: 1, suspended: true)
        let later = MainOperation()
        let results = Recorder<Bool>()
        let waiter = MainOperation { _ in results.append(later.waitUntilFinished(timeout: .milliseconds(5))) }
        queue.addOperations([waiter, later], waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(results.entries == [false] && later.isFinished)
    }

    @Test("timed waits inside operations give up and go on", .contract("O7", "O6"))
    func inside() {
        let queue = makeQueue(limit: 1)
        let never = MainOperation()
        let results = Recorder<Bool>()
        for _ in 0..<5 {
            queue.addOperation { results.append(never.waitUntilFinished(timeout: .milliseconds(1))) }
        }
        drains(queue)
        #expect(results.entries == [false, false, false, false, false])
    }
}
