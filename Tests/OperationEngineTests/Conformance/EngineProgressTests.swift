import OperationEngine
import OperationEngineProgress
import TestSupport
import Testing

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
}
