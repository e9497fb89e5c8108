import OperationEngine
import OperationEngineMetrics
import TestSupport
import Testing

extension TracingTests {
    @Suite("installing and removing")
    struct Installation {
        @Test("no events before the installation and after the removal", .contract("X4"))
        func off() {
            let queue = makeQueue()
            let log = TraceLog(of: [queue])
            func work() {
                queue.addOperation {}
                queue.addOperation(MainOperation())
                drains(queue)
            }
            work()
            #expect(log.entries.isEmpty && log.threadEvents.isEmpty)
            log.installed(for: .all) {
                work()
                // The thread may hold a lease since before: then the first event is that it gives it up.
                log.awaits { !$0.isEmpty }
            }
            let told = log.entries.count
            #expect(told == 10)
            work()
            #expect(log.entries.count == told)
        }

        @Test("several receivers, each with its kinds, which may change", .contract("X4"))
        func several() {
            let queue = makeQueue()
            let (first, second) = (TraceLog(of: [queue]), TraceLog(of: [queue]))
            #expect(!OperationTrace.remove(first))
            OperationTrace.install(first, for: .threads)
            OperationTrace.install(second, for: .operations)
            queue.addOperation {}
            drains(queue)
            #expect(first.entries.isEmpty && second.entries.map(\.step) == .whole)
            OperationTrace.install(first, for: .operations)
            queue.addOperation {}
            drains(queue)
            #expect(first.entries.map(\.step) == .whole)
            #expect(second.entries.suffix(5).map(\.id) == first.entries.map(\.id))
            #expect(OperationTrace.remove(first))
            #expect(!OperationTrace.remove(first))
            queue.addOperation {}
            drains(queue)
            #expect(first.entries.count == 5 && second.entries.count == 15)
            #expect(OperationTrace.remove(second))
            queue.addOperation {}
            drains(queue)
            #expect(second.entries.count == 15)
        }

        @Test("operations in a queue at the installation have events from then on", .contract("X4"))
        func inBetween() {
            let queue = makeQueue(suspended: true)
            let log = TraceLog(of: [queue])
            queue.addOperation(MainOperation().named("before"))
            let running = MainOperation { _ in }.named("both")
            log.installed {
                queue.addOperation(running)
                queue.isSuspended = false
                drains(queue)
            }
            #expect(log.steps("before") == [.started, .finished, .notified])
            #expect(log.steps("both") == .whole)
        }

        @Test("a receiver keeps no operation and no queue alive", .contract("X4", "Q2"))
        func ownership() {
            let freed = Counter()
            let log = TraceLog()
            log.installed {
                let queue = makeQueue()
                queue.addOperation(CountedOperation(freed: freed))
                queue.addOperation(CountedOperation(freed: freed))
                drains(queue)
            }
            freed.wait(for: 2)
        }

        /// Removes itself when it is called.
        private final class Leaving: OperationTrace.Receiver {
            private let freed: Counter
            private let called: Counter

            init(freed: Counter, called: Counter) { (self.freed, self.called) = (freed, called) }
            deinit { freed.add() }

            func receive(_ event: OperationTrace.OperationEvent) {
                if OperationTrace.remove(self) { called.add() }
            }
        }

        @Test("a removed receiver is released, also if it removes itself in a call", .contract("X4"))
        func released() {
            let (freed, called) = (Counter(), Counter())
            let queue = makeQueue()
            let log = TraceLog(of: [queue])
            log.installed {
                for _ in 0..<1_000 { OperationTrace.remove(installed(Leaving(freed: freed, called: called))) }
                for _ in 0..<100 { installed(Leaving(freed: freed, called: called)) }
                queue.addOperation {}
                drains(queue)
                called.wait(for: 100)
                freed.wait(for: 1_100)
            }
            #expect(log.entries.map(\.step) == .whole)
        }

        @discardableResult
        private func installed(_ receiver: Leaving) -> Leaving {
            OperationTrace.install(receiver, for: .operations)
            return receiver
        }

        @Test("installed and removed under load: no step twice, none out of order", .contract("X4"))
        func underLoad() {
            let queues = (0..<3).map { makeQueue(limit: $0 == 0 ? nil : $0) }
            let log = TraceLog(of: queues)
            let rounds = Scale.of(4_000)
            let isDone = Guarded(false)
            onThreads(4) { index in
                if index == 0 {
                    while !isDone.read() {
                        OperationTrace.install(log, for: [.all, .operations, .threads].randomElement()!)
                        OperationTrace.remove(log)
                    }
                    return
                }
                let queue = queues[index - 1]
                var former: OperationEngine.Operation?
                for round in 0..<rounds {
                    let operation = MainOperation().named("\(index)/\(round)")
                    if round % 7 == 3, let former { operation.addDependency(former) }
                    queue.addOperation(operation)
                    queue.addOperation {}
                    if round % 50 == 20 { queue.cancelAllOperations() }
                    if round % 100 == 60 { queue.addBarrierBlock {} }
                    former = operation
                }
                drains(queue)
                if index == 3 { isDone.withLock { $0 = true } }
            }
            for queue in queues { drains(queue) }
            let byName = Dictionary(grouping: log.entries.filter { !$0.name.isEmpty }, by: \.name)
            for (name, entries) in byName {
                let steps = entries.map(\.step.rawValue)
                #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 }, "\(name): \(entries.map(\.step))")
            }
        }
    }

    @Suite("statistics")
    struct Statistics {
        @Test("waits, runs and depth of one queue", .contract("X4"))
        func counts() {
            let (queue, other) = (makeQueue(limit: 1, suspended: true), makeQueue())
            let statistics = OperationStatistics(of: queue)
            OperationTrace.install(statistics, for: .operations)
            let dropped = MainOperation()
            let hold = Gate("the first may end")
            queue.addOperation { hold.wait() }
            for _ in 0..<8 { queue.addOperation {} }
            queue.addOperation(dropped)
            dropped.cancel()
            queue.addBarrierBlock {}
            other.addOperation {}
            drains(other)
            #expect(statistics.summary.enqueued == 10 && statistics.summary.waiting.count == 0)
            queue.isSuspended = false
            hold.open()
            drains(queue)
            #expect(OperationTrace.remove(statistics))
            let summary = statistics.summary
            #expect(summary.enqueued == 10 && summary.finished == 10)
            #expect(summary.waiting.count == 9 && summary.running.count == 9)
            #expect(summary.depth.count == 10 && summary.depth.sum == 55 && summary.depth.maximum == 10)
            #expect(summary.waiting.quantile(0) > 0 && summary.waiting.sum >= summary.waiting.maximum)
        }

        @Test("of all queues, from many threads", .contract("X4"))
        func all() {
            let queues = (0..<3).map { _ in makeQueue() }
            let statistics = OperationStatistics()
            OperationTrace.install(statistics, for: .operations)
            onThreads(3) { index in
                for _ in 0..<500 { queues[index].addOperation {} }
                drains(queues[index])
            }
            #expect(OperationTrace.remove(statistics))
            // Other tests' operations are counted too.
            let summary = statistics.summary
            #expect(summary.enqueued >= 1500 && summary.running.count >= 1500 && summary.waiting.count >= 1500)
        }

        @Test("a histogram's quantiles are at most an eighth too high, and its sums exact", .contract("X4"))
        func histogram() {
            var (histogram, values) = (OperationTrace.Histogram(), [Int64]())
            var generator = SeededGenerator(seed: 4)
            for _ in 0..<2_000 {
                let value = Int64.random(in: 0...(1 << Int64.random(in: 0...40, using: &generator)), using: &generator)
                values.append(value)
                histogram.record(value)
            }
            values.sort()
            #expect(histogram.count == 2_000 && histogram.sum == values.reduce(0, +))
            #expect(histogram.maximum == values.last)
            for part in [0.0, 0.1, 0.5, 0.9, 0.99, 1] {
                let exact = values[max(1, Int((part * 2_000).rounded(.up))) - 1]
                #expect(histogram.quantile(part) >= exact)
                #expect(Double(histogram.quantile(part)) <= Double(exact) * 1.125 + 1)
            }
            let (some, others): ([Int64], [Int64]) = ([0, 7, 8, 15, 16, .max, -3], [1, 1_000_000])
            var (left, right, both) = (
                OperationTrace.Histogram(), OperationTrace.Histogram(), OperationTrace.Histogram()
            )
            for value in some { left.record(value) }
            for value in others { right.record(value) }
            for value in some + others { both.record(value) }
            left.add(right)
            #expect(left == both && left.quantile(1) == .max && left.sum == .max)
            #expect(OperationTrace.Histogram().quantile(0.5) == 0)
        }
    }
}
