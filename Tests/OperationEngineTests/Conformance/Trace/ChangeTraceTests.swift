import OperationEngine
import TestSupport
import Testing

extension TracingTests {
    @Suite("closures, and what programs set")
    struct OfChanges {
        private typealias OperationID = OperationTrace.OperationID

        @Test("a closure keeps its identity when it gets an object", .contract("X4"), arguments: [false, true])
        func identity(isRunning: Bool) {
            let queue = makeQueue(suspended: !isRunning)
            let (hold, runs) = (Gate("the closure may end"), Gate("the closure runs"))
            let log = TraceLog(of: [queue])
            log.installed {
                queue.addOperation {
                    runs.open()
                    hold.wait()
                }
                if isRunning { runs.wait() }
                #expect(queue.operations.map { OperationID($0) } == [log.entries.first?.id])
                hold.open()
                queue.isSuspended = false
                drains(queue)
            }
            #expect(log.entries.map(\.step) == .whole && Set(log.entries.map(\.id)).count == 1)
            #expect(
                log.entries.map(\.isClosure)
                    == (isRunning ? [true, true, true, false, false] : [true, true, false, false, false]))
        }

        @Test("closures that are cancelled end without a start", .contract("X4", "J10"))
        func dropped() {
            let queue = makeQueue(suspended: true)
            let log = TraceLog(of: [queue])
            log.installed {
                for _ in 0..<100 { queue.addOperation {} }
                queue.cancelAllOperations()
                queue.isSuspended = false
                drains(queue)
            }
            #expect(log.stepsByOperation.count == 100 && log.stepsByOperation.allSatisfy { $0 == .leftOut })
        }

        @Test("cancelled untraced, and ended traced: closures have events too", .contract("X4", "J10"))
        func droppedLate() {
            let queue = makeQueue(suspended: true)
            for _ in 0..<100 { queue.addOperation {} }
            queue.cancelAllOperations()
            let log = TraceLog(of: [queue])
            log.installed {
                queue.isSuspended = false
                drains(queue)
            }
            #expect(log.stepsByOperation.count == 100)
            #expect(log.stepsByOperation.allSatisfy { $0 == [.finished, .notified] })
        }

        @Test("queues: limit, name, suspension", .contract("X4"))
        func queues() {
            let queue = makeQueue()
            let log = TraceLog(of: [queue])
            log.installed(for: .changes) {
                queue.maxConcurrentOperationCount = 3
                queue.name = "images"
                queue.isSuspended = true
                queue.isSuspended = false
                queue.addOperation {}
                drains(queue)
            }
            #expect(log.changes == ["limit 3", "name images", "suspended", "resumed"])
            #expect(log.entries.isEmpty && log.threadEvents.isEmpty)
        }

        @Test("a queue that is made", .contract("X4"))
        func made() {
            /// Keeps the identities of queues that are made on one thread.
            final class Makers: OperationTrace.Receiver {
                let thread = ThreadFacts.id
                let queues = Guarded<[OperationTrace.QueueID]>([])
                func receive(_ event: OperationTrace.ChangeEvent) {
                    guard event.thread == thread, case .made(let queue) = event.change else { return }
                    queues.withLock { $0.append(.init(queue)) }
                }
            }
            let makers = Makers()
            OperationTrace.install(makers, for: .changes)
            let queue = OperationQueue()
            #expect(OperationTrace.remove(makers))
            #expect(makers.queues.read() == [OperationTrace.QueueID(queue)])
        }

        @Test("cancellations, and dependencies: those at the adding, and later ones", .contract("X4"))
        func operations() {
            let queue = makeQueue(suspended: true)
            let (first, second, last) = (MainOperation(), MainOperation(), MainOperation())
            last.addDependency(first)
            let log = TraceLog(operations: [last])
            log.installed(for: .changes) {
                queue.addOperations([first, second, last], waitUntilFinished: false)
                last.addDependency(second)
                last.cancel()
                last.cancel()
                queue.isSuspended = false
                drains(queue)
                last.cancel()
            }
            #expect(
                log.changes == [
                    "on \(OperationID(first).rawValue)", "on \(OperationID(second).rawValue)", "cancelled",
                ])
        }
    }
}
