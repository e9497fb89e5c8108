import Dispatch
import TestSupport
import Testing

import class Foundation.JSONDecoder
import class Foundation.JSONEncoder

@testable import OperationEngine

@Suite("X6: snapshots", .blocking)
struct SnapshotTests {
    private typealias Snapshot = OperationQueue.Snapshot

    private func named(_ name: String) -> MainOperation {
        let operation = MainOperation()
        operation.name = name
        return operation
    }

    private func reasons(_ queue: OperationQueue) -> [[Snapshot.Reason]] {
        queue.snapshot().entries.map(\.reasons)
    }

    @Test("an empty queue has nothing to list", .contract("X6"))
    func empty() {
        let queue = makeQueue(limit: 3)
        queue.name = "empty"
        let snapshot = queue.snapshot()
        #expect(snapshot.entries.isEmpty && snapshot.omitted == 0 && snapshot.metrics == .init())
        #expect(snapshot.queue == "empty" && snapshot.limit == 3 && !snapshot.isSuspended)
    }

    @Test("suspended, and behind others of a higher priority", .contract("X6"))
    func suspended() {
        let queue = makeQueue(suspended: true)
        queue.addOperation {}
        let urgent = named("urgent")
        urgent.queuePriority = .high
        queue.addOperation(urgent)
        let snapshot = queue.snapshot()
        #expect(snapshot.isSuspended && snapshot.metrics.ready == 2)
        #expect(snapshot.entries.map(\.number) == [1, 0])
        #expect(snapshot.entries.map(\.kind) == [.operation, .closure])
        #expect(snapshot.entries.map(\.type) == ["MainOperation", nil])
        #expect(snapshot.entries.map(\.name) == ["urgent", nil])
        #expect(snapshot.entries.map(\.priority) == [4, 0])
        #expect(snapshot.entries.map(\.state) == [.ready, .ready])
        #expect(snapshot.entries.map(\.reasons) == [[.suspended], [.suspended, .priority]])
        #expect(urgent.description.contains(snapshot.entries[0].address ?? "no address"))
        queue.isSuspended = false
        drains(queue)
    }

    @Test("no slot is free", .contract("X6"))
    func limit() {
        let (queue, blocker) = (makeQueue(limit: 1), Blocker())
        blocker.occupy(queue)
        queue.addOperation {}
        let snapshot = queue.snapshot()
        #expect(snapshot.entries.map(\.state) == [.running, .ready])
        #expect(snapshot.entries.map(\.reasons) == [[], [.limit]])
        blocker.release.open()
        drains(queue)
    }

    @Test("no worker has come", .contract("X6"))
    func worker() {
        let (queue, target) = (makeQueue(), DispatchQueue(label: "idle"))
        target.suspend()
        queue.underlyingQueue = target
        queue.addOperation {}
        #expect(reasons(queue) == [[.worker]])
        target.resume()
        drains(queue)
    }

    @Test("dependencies, with their queues and what they do", .contract("X6"))
    func dependencies() {
        let (other, queue, blocker) = (makeQueue(limit: 1), makeQueue(), Blocker())
        other.name = "other"
        blocker.operation.name = "running"
        blocker.occupy(other)
        let (ready, idle, waiting) = (named("ready"), named("idle"), named("waiting"))
        waiting.addDependency(idle)
        other.addOperations([ready, waiting], waitUntilFinished: false)
        let dependent = named("dependent")
        for dependency in [blocker.operation, ready, idle, waiting] { dependent.addDependency(dependency) }
        idle.cancel()
        queue.addOperation(dependent)
        let entry = queue.snapshot().entries[0]
        #expect(entry.state == .waiting && entry.reasons == [.dependencies] && entry.unfinishedDependencies == 4)
        // The latest first.
        #expect(entry.dependencies.map(\.name) == ["waiting", "idle", "ready", "running"])
        #expect(entry.dependencies.map(\.state) == [.waiting, .notAdded, .ready, .running])
        #expect(entry.dependencies.map(\.queue) == ["other", nil, "other", "other"])
        #expect(entry.dependencies.map(\.isCancelled) == [false, true, false, false])
        #expect(entry.dependencies.allSatisfy { $0.type == "MainOperation" })
        idle.start()
        blocker.release.open()
        drains(queue)
    }

    @Test("of many dependencies a few are listed, and all counted", .contract("X6"))
    func manyDependencies() {
        let (queue, dependent) = (makeQueue(), Operation())
        let needed = (0..<100).map { _ in Operation() }
        for operation in needed { dependent.addDependency(operation) }
        queue.addOperation(dependent)
        let entry = queue.snapshot().entries[0]
        #expect(entry.unfinishedDependencies == 100 && (1..<100).contains(entry.dependencies.count))
        for operation in needed { operation.start() }
        drains(queue)
    }

    @Test("barriers, and what is behind them", .contract("X6"))
    func barriers() {
        let queue = makeQueue(suspended: true)
        queue.addOperation {}
        queue.addBarrierBlock {}
        queue.addOperation {}
        let (needed, dependent) = (Operation(), Operation())
        dependent.addDependency(needed)
        queue.addOperation(dependent)
        queue.addBarrierBlock {}
        let entries = queue.snapshot().entries
        #expect(entries.map(\.number) == [0, 1, 2, 3, 4])
        #expect(entries.map(\.kind) == [.closure, .barrier, .closure, .operation, .barrier])
        #expect(entries.map(\.barrier) == [nil, nil, 1, 1, nil])
        #expect(
            entries.map(\.reasons) == [
                [.suspended], [.earlier, .suspended], [.barrier, .suspended], [.dependencies, .barrier, .suspended],
                [.earlier, .suspended],
            ])
        needed.start()
        queue.isSuspended = false
        drains(queue)
    }

    @Test("an overridden isReady says no", .contract("X6"))
    func readiness() {
        final class Held: Operation, @unchecked Sendable {
            let isOn = Guarded(false)
            override var isReady: Bool { isOn.read() && super.isReady }
        }
        let (queue, held) = (makeQueue(), Held())
        queue.addOperation(held)
        #expect(reasons(queue) == [[.readiness]])
        held.isOn.withLock { $0 = true }
        held.didChangeValue(for: \.isReady)
        drains(queue)
    }

    @Test("asynchronous operations run until they end", .contract("X6"))
    func asynchronous() {
        let (queue, operation) = (makeQueue(), AsynchronousOperation())
        queue.addOperation(operation)
        operation.started.wait()
        #expect(queue.snapshot().entries.map(\.state) == [.running])
        operation.end()
        drains(queue)
        #expect(queue.snapshot().entries.isEmpty)
    }

    // MARK: Closures

    @Test("closures stay closures, waiting and running, and objects can still be made of them", .contract("X6"))
    func closures() async {
        // In a process of its own, where no other test makes objects.
        await #expect(processExitsWith: .success) {
            let queue = makeQueue(limit: 1)
            let (begun, release, second) = (Gate(), Gate(), Gate())
            queue.addOperation {
                begun.open()
                release.wait()
            }
            begun.wait()
            queue.addOperation { second.wait() }
            for _ in 0..<100 { queue.addOperation {} }
            let entries = queue.snapshot().entries
            #expect(entries.count == 102 && entries.allSatisfy { $0.kind == .closure })
            #expect(entries[0].state == .running && entries[0].number == 0)
            #expect(LiveObjects.counts[.operation] == nil)
            release.open()
            eventually("the next one runs") { queue.snapshot().entries.first?.number == 1 }
            #expect(LiveObjects.counts[.operation] == nil)
            let objects = queue.operations
            #expect(objects.count == 101)
            #expect(queue.snapshot().entries.first?.type == "BlockOperation")
            second.open()
            finishes(objects[0])
            drains(queue)
        }
    }

    // MARK: Bounds

    @Test("no more than asked for", .contract("X6"), arguments: [0, 1, 10, 999, 1_000, 5_000])
    func bound(count: Int) {
        let queue = makeQueue(suspended: true)
        let total = 1_000
        for _ in 0..<total { queue.addOperation {} }
        let snapshot = queue.snapshot(atMost: count)
        #expect(snapshot.entries.count == min(count, total) && snapshot.omitted == max(0, total - count))
        queue.isSuspended = false
        drains(queue)
    }

    @Test("ready and waiting ones share the room", .contract("X6"), arguments: [(500, 500), (500, 3), (3, 500)])
    func shares(ready: Int, waiting: Int) {
        let (queue, obstacle) = (makeQueue(suspended: true), Operation())
        for _ in 0..<ready { queue.addOperation {} }
        let dependents = (0..<waiting).map { _ in Operation() }
        for operation in dependents { operation.addDependency(obstacle) }
        queue.addOperations(dependents, waitUntilFinished: false)
        let snapshot = queue.snapshot(atMost: 100)
        let listed = snapshot.entries.count { $0.state == .ready }
        #expect(snapshot.entries.count == 100 && snapshot.omitted == ready + waiting - 100)
        #expect(listed == (ready == 3 ? 3 : waiting == 3 ? 97 : 50))
        obstacle.start()
        queue.isSuspended = false
        drains(queue)
    }

    @Test("a queue of a million goes on", .contract("X6"))
    func million() {
        let queue = makeQueue(suspended: true)
        let total = Scale.of(1_000_000)
        for _ in 0..<total { queue.addOperation {} }
        let snapshot = queue.snapshot()
        #expect(snapshot.entries.count == 1_000 && snapshot.omitted == total - 1_000)
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
    }

    // MARK: The whole process

    @Test("queues that hold something are listed, released ones are not", .contract("X6"))
    func all() {
        let (queue, empty) = (makeQueue(suspended: true), makeQueue())
        (queue.name, empty.name) = ("full one of SnapshotTests", "empty one of SnapshotTests")
        var gone: OperationQueue? = makeQueue(suspended: true)
        gone?.name = "gone one of SnapshotTests"
        gone?.addOperation {}
        queue.addOperation {}
        func names() -> [String] {
            OperationQueue.snapshots().map(\.queue).filter { $0.hasSuffix("of SnapshotTests") }
        }
        #expect(Set(names()) == ["full one of SnapshotTests", "gone one of SnapshotTests"])
        gone?.isSuspended = false
        gone = nil
        queue.isSuspended = false
        drains(queue)
        eventually("no queue is left") { names().isEmpty }
    }

    // MARK: Texts

    @Test("it can be written as JSON and read again", .contract("X6"))
    func json() throws {
        let (queue, obstacle, dependent) = (makeQueue(suspended: true), named("obstacle"), named("dependent"))
        dependent.addDependency(obstacle)
        queue.addOperation(dependent)
        queue.addBarrierBlock {}
        queue.addOperation {}
        let snapshot = queue.snapshot()
        let bytes = try JSONEncoder().encode(snapshot)
        #expect(try JSONDecoder().decode(Snapshot.self, from: bytes) == snapshot)
        obstacle.start()
        queue.isSuspended = false
        drains(queue)
    }

    @Test("the text has a line for the queue, for each operation and for the rest", .contract("X6"))
    func text() {
        let (queue, obstacle, dependent) = (makeQueue(suspended: true), named("obstacle"), named("dependent"))
        queue.name = "described"
        dependent.addDependency(obstacle)
        queue.addOperation(dependent)
        for _ in 0..<8 { queue.addOperation {} }
        let lines = queue.snapshot(atMost: 4).description.split(separator: "\n")
        #expect(lines.count == 6 && lines[0].contains("described") && lines[5].contains("5"))
        #expect(lines[4].contains("'dependent'") && lines[4].contains("'obstacle'"))
        obstacle.start()
        queue.isSuspended = false
        drains(queue)
    }

    @Test(
        "a signal prints all queues, into a closed pipe nothing; one that cannot be handled is refused", .contract("X6")
    )
    func signal() throws {
        try passes("snapshot-on-signal")
    }
}
