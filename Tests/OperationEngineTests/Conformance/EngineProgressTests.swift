import OperationEngine
import OperationEngineProgress
import TestSupport
import Testing

import class Foundation.Progress

@Suite("P: progress, the engine's own lines", .blocking)
struct EngineProgressTests {
    @Test("operations on many threads are all counted, while others read and set", .contract("P12"))
    func crowd() {
        let (queue, other) = (makeQueue(limit: 8), makeQueue())
        let count = Scale.of(20_000)
        queue.progress.totalUnitCount = Int64(count)
        onThreads(3) { thread in
            for _ in 0..<count / 2 {
                if thread < 2 {
                    queue.addOperation {}
                } else {
                    _ = (queue.progress.totalUnitCount, queue.progress.completedUnitCount)
                    queue.progress.totalUnitCount = Int64(count)
                }
            }
        }
        drains(queue)
        #expect(queue.progress.completedUnitCount == Int64(count / 2 * 2))
        #expect(other.progress !== queue.progress && other.progress.completedUnitCount == 0)
    }

    @Test("threads that ask for it first at once get the same object", .contract("P12"))
    func sameObject() {
        for _ in 0..<Scale.of(200) {
            let queue = makeQueue()
            let seen = Recorder<ObjectIdentifier>()
            onThreads(3) { _ in seen.append(ObjectIdentifier(queue.progress)) }
            #expect(Set(seen.entries).count == 1)
        }
    }

    @Test("the progress outlives its queue, and keeps it not alive", .contract("P12", "Q3"))
    func lifetimes() {
        weak var dropped: OperationQueue?
        let progress = {
            let queue = makeQueue()
            dropped = queue
            queue.progress.totalUnitCount = 5
            queue.addOperation {}
            drains(queue)
            return queue.progress
        }()
        eventually("the queue is freed") { dropped == nil }
        #expect(progress.completedUnitCount == 1)
    }

    @Test("operations that are started by hand are not counted, in whichever operation", .contract("P12"))
    func byHand() {
        let queue = makeQueue()
        queue.progress.totalUnitCount = 5
        MainOperation().start()
        queue.addOperation { MainOperation().start() }
        drains(queue)
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test("a group may take its cancelled operations out of the total, down to none, and go on", .contract("P12"))
    func totalBackToZero() {
        let (queue, parent) = (makeQueue(), Progress(totalUnitCount: 1))
        let tokens = Guarded<[Observation]>([])
        @Sendable func add(_ operation: Operation) {
            let token = operation.observe(\.isCancelled, options: .new) { [unowned queue] operation, _ in
                if !operation.isExecuting { queue.progress.totalUnitCount -= 1 }
            }
            tokens.withLock { $0.append(token) }
            queue.progress.totalUnitCount += 1
            queue.addOperation(operation)
        }
        parent.addChild(queue.progress, withPendingUnitCount: 1)
        queue.isSuspended = true
        for _ in 0..<3 { add(MainOperation()) }
        queue.cancelAllOperations()
        #expect(queue.progress.totalUnitCount == 0 && queue.progress.fractionCompleted == 0)
        queue.isSuspended = false
        drains(queue)
        #expect(queue.progress.completedUnitCount == 0)
        // Both are in the total before one ends: a parent counts a child whenever it is complete.
        queue.isSuspended = true
        for _ in 0..<2 { add(MainOperation()) }
        queue.isSuspended = false
        drains(queue)
        #expect(queue.progress.totalUnitCount == 2 && queue.progress.completedUnitCount == 2)
        #expect(queue.progress.fractionCompleted == 1 && queue.progress.isFinished)
        #expect(parent.completedUnitCount == 1 && parent.isFinished)
        withExtendedLifetime(tokens) {}
    }

    @Test("the counts take any numbers in any order", .contract("P12"))
    func anyCounts() {
        let ends: [Int64] = [0, 1, -1, 2, -2, .max, .max - 1, .min, .min + 1, 1 << 62, 3]
        let queue = makeQueue()
        let progress = queue.progress
        for completed in ends {
            for total in ends {
                for next in ends {
                    progress.completedUnitCount = completed
                    progress.totalUnitCount = total
                    progress.totalUnitCount = next
                    #expect(progress.totalUnitCount == max(next, -.max))
                    #expect(progress.completedUnitCount == max(completed, -.max))
                    if next > 0, completed >= 0 {
                        #expect(progress.fractionCompleted == Double(completed) / Double(next))
                    }
                }
            }
        }
        progress.totalUnitCount = 1
        progress.completedUnitCount = .max
        queue.addOperation {}
        drains(queue)
        #expect(progress.completedUnitCount == .max)
    }

    @Test("more may be completed than the total, over many changes of both", .contract("P12"))
    func manyChanges() {
        let progress = makeQueue().progress
        for round in 1...Int64(100) {
            progress.totalUnitCount += 1
            progress.completedUnitCount += 2
            #expect(progress.totalUnitCount == round && progress.fractionCompleted == 2)
        }
    }

    @Test("a child counts by its share, also after a change of the total", .contract("P12"))
    func children() {
        let queue = makeQueue()
        queue.progress.totalUnitCount = 4
        let child = Progress(totalUnitCount: 10)
        queue.progress.totalUnitCount = 2
        queue.progress.addChild(child, withPendingUnitCount: 1)
        child.completedUnitCount = 5
        #expect(queue.progress.fractionCompleted == 0.25)
        queue.progress.totalUnitCount = 4
        #expect(queue.progress.fractionCompleted == 0.125)
        child.completedUnitCount = 10
        #expect(queue.progress.fractionCompleted == 0.25 && queue.progress.completedUnitCount == 1)
    }
}
