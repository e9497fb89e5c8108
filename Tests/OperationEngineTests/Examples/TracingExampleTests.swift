import Glibc
import OperationEngine
import OperationEngineMetrics
import Synchronization
import TestSupport
import Testing

// example: blocked-threads
/// A gauge: how many threads are blocked inside operations.
final class BlockedThreads: OperationTrace.Receiver {
    private let blocked = Atomic<Int>(0)

    var count: Int { blocked.load(ordering: .relaxed) }

    func receive(_ event: OperationTrace.ThreadEvent) {
        switch event.step {
        case .growth: blocked.wrappingAdd(1, ordering: .relaxed)
        case .shrinkage: blocked.wrappingSubtract(1, ordering: .relaxed)
        default: break
        }
    }
}
// end of example

extension TracingTests {
    @Suite("the article's examples")
    struct Examples {
        @Test("statistics of a queue", .contract("X4"))
        func statistics() {
            let log = Recorder<String>()
            let print = { @Sendable (text: String) in log.append(text) }
            // example: statistics
            let queue = OperationQueue()
            let statistics = OperationStatistics(of: queue)
            OperationTrace.install(statistics, for: .operations)

            for _ in 0..<100 { queue.addOperation { print("work") } }
            queue.waitUntilAllOperationsAreFinished()

            let summary = statistics.summary
            print("\(summary.finished) of \(summary.enqueued) done, at most \(summary.depth.maximum) in the queue")
            print("99 % waited \(summary.waiting.quantile(0.99)) ns or less")
            print("99 % ran \(summary.running.quantile(0.99)) ns or less")
            // end of example
            #expect(OperationTrace.remove(statistics))
            #expect(log.entries[100].hasPrefix("100 of 100 done, at most ") && log.entries.count == 103)
        }

        @Test("a gauge of blocked threads", .contract("X4"))
        func gauge() async {
            // In a process of its own: threads that other tests had blocked before would be counted out alone.
            await #expect(processExitsWith: .success) {
                let gauge = BlockedThreads()
                OperationTrace.install(gauge, for: .threads)
                let (queue, other) = (makeQueue(), makeQueue())
                let inner = Blocker()
                inner.occupy(other)
                queue.addOperation { inner.operation.waitUntilFinished() }
                let patience = Patience()
                while gauge.count < 1, !patience.isOver() { sched_yield() }
                #expect(gauge.count >= 1)
                inner.release.open()
                drains(queue)
                drains(other)
                while gauge.count > 0, !patience.isOver() { sched_yield() }
                #expect(gauge.count == 0)
                #expect(OperationTrace.remove(gauge))
            }
        }
    }
}
