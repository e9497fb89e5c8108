import Dispatch
import OperationEngine
import TestSupport
import Testing

extension TracingTests {
    @Suite("events of operations")
    struct OfOperations {
        /// Kinds of operations that a queue runs.
        enum Kind: CaseIterable {
            case closure, block, manyBlocks, subclass, async, asynchronous, startsElsewhere, inherits, observed,
                completion

            /// Adds one, under the name "it", as far as it can have one.
            func add(to queue: OperationQueue) {
                switch self {
                case .closure: queue.addOperation {}
                case .block: queue.addOperation(BlockOperation {}.named("it"))
                case .manyBlocks:
                    let operation = BlockOperation {}.named("it")
                    for _ in 0..<3 { operation.addExecutionBlock {} }
                    queue.addOperation(operation)
                case .subclass: queue.addOperation(MainOperation().named("it"))
                case .async: queue.addOperation(AsyncOperation { await Task.yield() }.named("it"))
                case .asynchronous:
                    queue.addOperation(
                        AsynchronousOperation { operation in
                            DispatchQueue.global().async { operation.end() }
                        }.named("it"))
                case .startsElsewhere: queue.addOperation(StartsElsewhere().named("it"))
                case .inherits: queue.addOperation(InheritingStart().named("it"))
                case .observed:
                    let operation = MainOperation().named("it")
                    let observation = operation.observe(\.isFinished) { _, _ in }
                    queue.addOperations([operation], waitUntilFinished: true)
                    observation.invalidate()
                case .completion:
                    let operation = MainOperation().named("it")
                    let called = Gate("the completion block is called")
                    operation.completionBlock = { called.open() }
                    queue.addOperation(operation)
                    called.wait()
                }
            }
        }

        /// Overrides `start` and calls the engine's at once.
        final class InheritingStart: Operation, @unchecked Sendable {
            override func start() { super.start() }
        }

        @Test("each step once and in order, on the thread it happens on", .contract("X4"), arguments: Kind.allCases)
        func steps(_ kind: Kind) {
            let queue = makeQueue()
            let log = TraceLog(of: [queue], isSlow: true)
            log.installed {
                kind.add(to: queue)
                drains(queue)
            }
            let entries = log.entries
            #expect(entries.map(\.step) == .whole)
            #expect(Set(entries.map(\.id)).count == 1)
            #expect(entries.allSatisfy { $0.isClosure == (kind == .closure) })
            #expect(entries.allSatisfy { $0.event.thread == $0.event.caller && !$0.isBarrier })
            #expect(entries.map(\.event.time) == entries.map(\.event.time).sorted())
            #expect(entries.allSatisfy { $0.event.queue == OperationTrace.QueueID(queue) })
            #expect(entries.prefix(2).allSatisfy { $0.event.thread == ThreadFacts.id })
        }

        @Test("many at once: each step once, in order", .contract("X4"), arguments: [nil, 1, 3])
        func many(limit: Int?) {
            let queue = makeQueue(limit: limit)
            let log = TraceLog(of: [queue], isSlow: true)
            log.installed {
                for _ in 0..<100 {
                    queue.addOperation {}
                    queue.addOperation(MainOperation())
                    queue.addOperation(AsyncOperation { await Task.yield() })
                    queue.addOperation(StartsElsewhere())
                    queue.addOperation(
                        AsynchronousOperation { operation in DispatchQueue.global().async { operation.end() } })
                }
                queue.addOperations((0..<100).map { _ in BlockOperation {} }, waitUntilFinished: false)
                drains(queue)
            }
            #expect(log.stepsByOperation.count == 600)
            #expect(log.stepsByOperation.allSatisfy { $0 == .whole })
            if let limit {
                var now = 0
                var peak = 0
                for entry in log.entries {
                    if entry.step == .started { now += 1 }
                    if entry.step == .finished { now -= 1 }
                    peak = max(peak, now)
                }
                #expect(peak <= limit)
            }
        }

        @Test("ready comes with the end of the last dependency, after the event of that end", .contract("X4"))
        func dependencies() {
            let queue = makeQueue()
            let (first, second, last) = (Blocker(), MainOperation().named("second"), MainOperation().named("last"))
            first.operation.name = "first"
            last.addDependency(first.operation)
            last.addDependency(second)
            let log = TraceLog(of: [queue])
            log.installed {
                queue.addOperation(last)
                queue.addOperation(second)
                first.occupy(queue)
                // Its dependents have been notified by then, so that the end of `first` is the last.
                log.awaits("second", .notified)
                #expect(log.steps("last") == [.enqueued])
                first.release.open()
                drains(queue)
            }
            for name in ["first", "second", "last"] { #expect(log.steps(name) == .whole) }
            let finish = log.place("first", .finished) ?? .max
            #expect(finish < log.place("last", .ready) ?? -1)
            #expect(log.entries[finish].event.thread == log.entries[log.place("last", .ready) ?? 0].event.thread)
        }

        @Test("ready comes with the removal of the last dependency", .contract("X4"))
        func removal() {
            let queue = makeQueue()
            let (never, waiting) = (MainOperation(), MainOperation().named("waiting"))
            waiting.addDependency(never)
            let log = TraceLog(of: [queue])
            log.installed {
                queue.addOperation(waiting)
                #expect(log.steps("waiting") == [.enqueued])
                waiting.removeDependency(never)
                drains(queue)
            }
            #expect(log.steps("waiting") == .whole)
        }

        @Test("ready comes to all that one end makes ready, observed and asked ones too", .contract("X4"))
        func fan() {
            let (queue, other) = (makeQueue(), makeQueue())
            let root = Blocker()
            root.operation.name = "root"
            let dependents = (0..<100).map { MainOperation().named("dependent \($0)") }
            let (watched, asked) = (MainOperation().named("watched"), HeldOperation().named("asked"))
            let observation = watched.observe(\.isReady) { _, _ in }
            asked.allow()
            let all: [OperationEngine.Operation] = dependents + [watched, asked]
            for operation in all { operation.addDependency(root.operation) }
            let log = TraceLog(of: [queue, other])
            log.installed {
                for (index, operation) in all.enumerated() { (index % 2 == 0 ? queue : other).addOperation(operation) }
                root.occupy(queue)
                #expect(!log.entries.contains { $0.step == .ready && $0.name != "root" })
                root.release.open()
                drains(queue)
                drains(other)
            }
            observation.invalidate()
            for operation in all { #expect(log.steps(operation.name ?? "") == .whole) }
        }

        @Test("an overridden isReady: ready comes when it says so", .contract("X4", "F3"))
        func ownReadiness() {
            let queue = makeQueue()
            let held = HeldOperation().named("held")
            let log = TraceLog(of: [queue])
            log.installed {
                queue.addOperation(held)
                held.announce()
                #expect(log.steps("held") == [.enqueued])
                held.allow()
                drains(queue)
            }
            #expect(log.steps("held") == .whole)
        }

        /// Ways to cancel what has not begun.
        enum Cancellation: CaseIterable {
            case before, alone, all
        }

        @Test(
            "cancelled before its start: no start, unless its class overrides it", .contract("X4", "J4", "J9"),
            arguments: Cancellation.allCases)
        func cancelled(how: Cancellation) {
            let queue = makeQueue(suspended: true)
            let never = MainOperation()
            let operations: [OperationEngine.Operation] = [
                BlockOperation {}.named("ready"), MainOperation().named("waiting"), AsyncOperation {}.named("async"),
                AsynchronousOperation().named("asynchronous"),
            ]
            operations[1].addDependency(never)
            let log = TraceLog(of: [queue], isSlow: true)
            log.installed {
                if how == .before { for operation in operations { operation.cancel() } }
                for operation in operations { queue.addOperation(operation) }
                if how == .all { queue.addOperation {} }
                if how == .alone { for operation in operations { operation.cancel() } }
                if how == .all { queue.cancelAllOperations() }
                #expect(!log.entries.contains { $0.step == .started })
                queue.isSuspended = false
                drains(queue)
            }
            for name in ["ready", "waiting", "async"] { #expect(log.steps(name) == .leftOut) }
            #expect(log.steps("asynchronous") == .whole)
            if how == .all { #expect(log.steps("") == .leftOut) }
        }

        @Test("a suspended queue: enqueued and ready, and the start when it goes on", .contract("X4", "N9"))
        func suspended() {
            let queue = makeQueue(suspended: true)
            let log = TraceLog(of: [queue])
            log.installed {
                queue.addOperation {}
                #expect(log.entries.map(\.step) == [.enqueued, .ready])
                queue.isSuspended = false
                drains(queue)
            }
            #expect(log.entries.map(\.step) == .whole)
        }

        @Test("barriers have events, as barriers, between the operations that they part", .contract("X4", "P7"))
        func barriers() {
            let queue = makeQueue()
            let log = TraceLog(of: [queue])
            log.installed {
                for _ in 0..<5 { queue.addOperation(MainOperation().named("before")) }
                queue.addBarrierBlock {}
                for _ in 0..<5 { queue.addOperation(MainOperation().named("behind")) }
                drains(queue)
            }
            #expect(log.entries.filter(\.isBarrier).map(\.step) == .whole)
            let entries = log.entries
            let start = entries.firstIndex { $0.isBarrier && $0.step == .started } ?? -1
            let end = entries.firstIndex { $0.isBarrier && $0.step == .finished } ?? -1
            #expect(entries[..<start].count { $0.name == "before" && $0.step == .finished } == 5)
            #expect(entries[end...].count { $0.name == "behind" && $0.step == .started } == 5)
        }

        @Test("started by hand: start and end, in no queue", .contract("X4", "B1"))
        func byHand() {
            let (plain, own, cancelled) = (
                BlockOperation {}.named("plain"), AsynchronousOperation { $0.end() }.named("own"),
                MainOperation().named("cancelled")
            )
            let log = TraceLog(operations: [plain, own, cancelled])
            log.installed {
                plain.start()
                own.start()
                cancelled.cancel()
                cancelled.start()
            }
            #expect(log.steps("plain") == .byHand)
            #expect(log.steps("cancelled") == [.finished, .notified])
            // An overridden `start` is the class's own: the engine hears of its end.
            #expect(log.steps("own") == [.finished, .notified])
            #expect(log.entries.allSatisfy { $0.event.queue == nil && $0.event.thread == ThreadFacts.id })
        }

        @Test("waits inside operations, and starts by hand inside of them", .contract("X4", "O6", "B15"))
        func reentrant() {
            let (queue, other) = (makeQueue(), makeQueue())
            let log = TraceLog(of: [queue, other])
            log.installed {
                queue.addOperation(
                    MainOperation { _ in
                        let inner = MainOperation().named("inner")
                        other.addOperation(inner)
                        inner.waitUntilFinished()
                        // That wait may end before the event of the finish, unlike a wait for the queue.
                        drains(other)
                        BlockOperation {}.start()
                    }.named("outer"))
                drains(queue)
            }
            #expect(log.steps("outer") == .whole && log.steps("inner") == .whole)
            #expect(log.place("outer", .started) ?? .max < log.place("inner", .enqueued) ?? -1)
            #expect(log.place("inner", .finished) ?? .max < log.place("outer", .finished) ?? -1)
        }

        @Test("one that announces its end too early has one event, without a start", .contract("X4", "C9"))
        func earlyEnd() {
            let queue = makeQueue(suspended: true)
            let operation = AsynchronousOperation().named("early")
            let log = TraceLog(of: [queue])
            log.installed {
                queue.addOperation(operation)
                operation.end()
                operation.announceEnd()
                queue.isSuspended = false
                drains(queue)
            }
            #expect(log.steps("early") == .leftOut)
        }

        @Test("an underlying queue: the same events as elsewhere", .contract("X4", "P5"))
        func underlying() {
            let queue = makeQueue()
            queue.underlyingQueue = DispatchQueue(label: "underlying")
            let log = TraceLog(of: [queue])
            log.installed(for: .all) {
                queue.addOperation(MainOperation().named("it"))
                drains(queue)
                log.awaits { $0.contains { $0.step == .leaseGivenUp && $0.queue == OperationTrace.QueueID(queue) } }
            }
            #expect(log.steps("it") == .whole)
            let worker = log.entries[log.place("it", .started) ?? 0].event.thread
            #expect(log.threadEvents.contains { $0.step == .leaseTaken && $0.thread == worker })
        }
    }
}
