import Dispatch
import OperationEngine
import TestSupport
import Testing

extension TracingTests {
    @Suite("events of threads")
    struct OfThreads {
        @Test("leases: taken, then given up, by the thread that runs the queue", .contract("X4"))
        func leases() {
            let queue = makeQueue()
            let id = OperationTrace.QueueID(queue)
            let log = TraceLog(of: [queue])
            let workers = Guarded<Set<Int32>>([])
            log.installed(for: .threads) {
                for _ in 0..<20 { queue.addOperation { _ = workers.withLock { $0.insert(ThreadFacts.id) } } }
                drains(queue)
                log.awaits { events in
                    let own = events.filter { $0.queue == id }
                    let taken = own.count { $0.step == .leaseTaken }
                    return taken > 0 && own.count == 2 * taken
                }
            }
            let own = log.threadEvents.filter { $0.queue == id }
            #expect(workers.read().isSubset(of: Set(own.map(\.thread))))
            for events in Dictionary(grouping: own, by: \.thread).values {
                for (index, event) in events.enumerated() {
                    #expect(event.step == (index % 2 == 0 ? .leaseTaken : .leaseGivenUp) && event.other == nil)
                }
                #expect(events.map(\.time) == events.map(\.time).sorted())
            }
            #expect(log.entries.isEmpty, "operations have no events")
        }

        @Test("a worker that sleeps is woken: park, wake and unpark name each other", .contract("X4"))
        func sleeps() async {
            // In a process of its own: the workers of other tests would never all be asleep.
            await #expect(processExitsWith: .success) {
                let queue = makeQueue()
                let log = TraceLog()
                let me = ThreadFacts.id
                log.installed(for: .threads) {
                    let patience = Patience()
                    // Until this thread happens to be the one that wakes a worker.
                    while !hasWoken(log.threadEvents, by: me), !patience.isOver() {
                        queue.addOperation {}
                        drains(queue)
                        log.awaits { events in
                            let turns = events.filter { $0.step == .park || $0.step == .unpark }
                            return Dictionary(grouping: turns, by: \.thread).values.allSatisfy {
                                $0.last?.step == .park
                            }
                        }
                    }
                    #expect(hasWoken(log.threadEvents, by: me))
                }
                let events = log.threadEvents
                for wake in events where wake.step == .wake && wake.thread == me {
                    #expect(wake.other != nil && wake.other != me && wake.queue == nil)
                }
                // Nobody is awake before the one who wakes it says so.
                for unpark in events where unpark.step == .unpark && unpark.other == me {
                    #expect(
                        events.contains {
                            $0.step == .wake && $0.thread == me && $0.other == unpark.thread && $0.time <= unpark.time
                        })
                }
                for of in Dictionary(grouping: events, by: \.thread).values {
                    // Threads go to sleep and wake up in turns.
                    let turns = of.map(\.step).filter { $0 == .park || $0 == .unpark }
                    #expect(zip(turns, turns.dropFirst()).allSatisfy { $0 != $1 })
                }
            }
        }

        @Test("a wait inside an operation: growth, and shrinkage when it is over", .contract("X4", "O6"))
        func waits() {
            let (queue, other) = (makeQueue(), makeQueue())
            let log = TraceLog()
            let waiter = Guarded<Int32>(0)
            // What the thread did before, for other tests, comes first.
            let before = Guarded(0)
            log.installed(for: .threads) {
                let inner = Blocker()
                inner.occupy(other)
                queue.addOperation {
                    before.withLock { $0 = log.threadEvents.count }
                    waiter.withLock { $0 = ThreadFacts.id }
                    inner.operation.waitUntilFinished()
                }
                log.awaits { events in
                    let thread = waiter.read()
                    return thread != 0
                        && events.dropFirst(before.read()).contains { $0.step == .growth && $0.thread == thread }
                }
                #expect(
                    !log.threadEvents.dropFirst(before.read()).contains {
                        $0.step == .shrinkage && $0.thread == waiter.read()
                    })
                inner.release.open()
                drains(queue)
                drains(other)
            }
            let own = log.threadEvents.dropFirst(before.read()).filter { $0.thread == waiter.read() }.map(\.step)
            let growth = own.firstIndex(of: .growth) ?? .max
            #expect(growth < own.firstIndex(of: .shrinkage) ?? -1)
        }

        @Test(
            "operations that block elsewhere: growth by the watching thread, begin with a name, shrinkage",
            .contract("X4", "N13"))
        func blocks() {
            // So many that the number of one takes two digits or, after other tests, three.
            let count = max(ThreadFacts.cores + 3, 12)
            let queue = makeQueue(limit: count)
            let log = TraceLog()
            let (met, workers) = (Rendezvous(count), Guarded<[Int32: String]>([:]))
            log.installed(for: .threads) {
                for _ in 0..<count {
                    queue.addOperation {
                        let thread = ThreadFacts.id
                        workers.withLock { $0[thread] = ThreadFacts.name }
                        met.meet()
                    }
                }
                drains(queue)
                // Sent when the thread has looked again: it may be after the operation's end, and after the queue's.
                for step in [OperationTrace.ThreadStep.growth, .shrinkage] {
                    log.awaits { $0.contains { $0.step == step && workers.read().keys.contains($0.thread) } }
                }
            }
            for (thread, name) in workers.read() {
                #expect(name.wholeMatch(of: /engine norma?l? [1-9][0-9]*/) != nil && name.utf8.count <= 15)
                if let told = log.namesOfBegun[thread] { #expect(told == name) }
            }
            #expect(Set(workers.read().values).count == count, "two workers of one name")
            #expect(workers.read().values.contains { $0.wholeMatch(of: /engine norma? [1-9][0-9]+/) != nil })
        }

        @Test("a worker too many ends when it has been idle for long", .contract("X4"), .slow)
        func ends() {
            let count = ThreadFacts.cores + 2
            let queue = makeQueue(limit: count)
            let log = TraceLog()
            let met = Rendezvous(count)
            log.installed(for: .threads) {
                for _ in 0..<count { queue.addOperation { met.meet() } }
                drains(queue)
                // One that has slept since before the installation may end as well.
                log.awaits { events in
                    let ended = Set(events.filter { $0.step == .end }.map(\.thread))
                    return events.contains { $0.step == .park && ended.contains($0.thread) }
                }
            }
            let events = log.threadEvents
            for end in events.indices where events[end].step == .end {
                let before = events[..<end].filter { $0.thread == events[end].thread && $0.step != .growth }
                guard before.contains(where: { $0.step == .park }) else { continue }
                #expect(before.last.map(\.step) == .unpark && before.last?.other == nil)
            }
        }
    }
}

/// Whether a thread has woken a worker, and that knows it.
private func hasWoken(_ events: [OperationTrace.ThreadEvent], by thread: Int32) -> Bool {
    events.contains { $0.step == .wake && $0.thread == thread }
        && events.contains { $0.step == .unpark && $0.other == thread }
}
