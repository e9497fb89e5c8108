import Dispatch
import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

@Suite("P, N7: main, current and underlying queues", .blocking)
struct TargetTests {
    @Test("the main queue's settings cannot be changed", .contract("P4", "N7"))
    func mainSettings() {
        let main = OperationQueue.main
        let name = main.name
        main.maxConcurrentOperationCount = 4
        main.isSuspended = true
        main.name = "mine"
        main.qualityOfService = .background
        #expect(main === OperationQueue.main)
        #expect(main.maxConcurrentOperationCount == 1)
        #expect(!main.isSuspended)
        #expect(main.name == name && name?.isEmpty == false)
        #expect(main.qualityOfService != .background)
    }

    @Test("the main queue lies on the main queue of Dispatch", .contract("P1"))
    func mainUnderlying() {
        #expect(OperationQueue.main.underlyingQueue?.label == DispatchQueue.main.label)
    }

    @Test(
        "the current queue is that of the operation, also after nested starts; nil elsewhere",
        .contract("P2", "P3", "B15"))
    func current() {
        let queues = (0..<3).map { makeQueue(limit: $0 + 1) }
        let seen = Recorder<Bool>()
        for queue in queues {
            for _ in 0..<50 {
                queue.addOperation {
                    seen.append(OperationQueue.current === queue)
                    let inner = MainOperation { _ in seen.append(OperationQueue.current === queue) }
                    inner.start()
                    seen.append(OperationQueue.current === queue)
                }
            }
        }
        for queue in queues { drains(queue) }
        #expect(seen.entries == Array(repeating: true, count: 450))
        completes("a thread without a queue") { seen.append(OperationQueue.current == nil) }
        #expect(seen.entries.last == true)
    }

    @Test("operations run on the underlying queue; nil leads back to threads of the queue", .contract("P5"))
    func underlying() {
        let key = DispatchSpecificKey<Int>()
        let dispatchQueue = DispatchQueue(label: "under")
        dispatchQueue.setSpecific(key: key, value: 7)
        let (queue, seen) = (makeQueue(), Recorder<Int?>())
        queue.underlyingQueue = dispatchQueue
        #expect(queue.underlyingQueue === dispatchQueue)
        for _ in 0..<100 { queue.addOperation { seen.append(DispatchQueue.getSpecific(key: key)) } }
        drains(queue)
        #expect(seen.entries == Array(repeating: 7, count: 100))
        queue.underlyingQueue = nil
        #expect(queue.underlyingQueue == nil)
        queue.addOperation { seen.append(DispatchQueue.getSpecific(key: key)) }
        drains(queue)
        #expect(seen.entries.count == 101 && seen.entries.last == .some(nil))
    }

    @Test("a serial underlying queue runs one at a time, whatever the limit", .contract("P6"), arguments: [-1, 1, 4])
    func serialUnderlying(limit: Int) {
        let (queue, level, log) = (makeQueue(limit: limit), HighWater(), Recorder<Int>())
        // Foundation does not keep it.
        let dispatchQueue = DispatchQueue(label: "serial")
        queue.underlyingQueue = dispatchQueue
        for index in 0..<Scale.of(1_000) { queue.addOperation { level.inside { log.append(index) } } }
        withExtendedLifetime(dispatchQueue) { _ = drains(queue) }
        #expect(level.peak == 1)
        #expect(log.entries == Array(0..<Scale.of(1_000)))
    }

    @Test("a concurrent underlying queue runs up to the limit", .contract("P6"), arguments: [1, 2])
    func concurrentUnderlying(limit: Int) {
        let (queue, level, meeting) = (makeQueue(limit: limit), HighWater(), Rendezvous(limit))
        let dispatchQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        queue.underlyingQueue = dispatchQueue
        for _ in 0..<limit { queue.addOperation { level.inside { _ = meeting.meet() } } }
        drains(queue)
        for _ in 0..<Scale.of(1_000) { queue.addOperation { level.inside {} } }
        withExtendedLifetime(dispatchQueue) { _ = drains(queue) }
        #expect(level.peak == limit)
    }

    @Test("the quality of service is kept, on operations and queues", .contract("P13"))
    func qualityIsKept() {
        let (operation, queue) = (Operation(), makeQueue())
        #expect(operation.qualityOfService == .default && queue.qualityOfService == .default)
        operation.qualityOfService = .utility
        queue.qualityOfService = .userInitiated
        #expect(operation.qualityOfService == .utility && queue.qualityOfService == .userInitiated)
    }
}
