import OperationEngine
import Synchronization
import TestSupport

/// A thousand queues with limits of their own; each operation depends on some that were made before it, wherever they
/// are. Half of the queues are suspended at first, and resumed by several threads.
@Sendable func manyQueues(_ run: StressRun) {
    var random = run.generator()
    let live = LiveCount()
    do {
        let queues = (0..<run.size).map { _ in
            let queue = CountedQueue(live)
            queue.maxConcurrentOperationCount = [-1, 1, 1, 2, 5].randomElement(using: &random)!
            queue.isSuspended = Bool.random(using: &random)
            return queue
        }
        let perQueue = 10
        var operations: [LinkedOperation] = []
        for index in 0..<run.size * perQueue {
            let operation = LinkedOperation(run, live)
            for _ in 0..<Int.random(in: 0...3, using: &random) where index > 0 {
                let reach = Int.random(in: 1...index, using: &random)
                operation.follow(operations[Int.random(in: index - reach..<index, using: &random)])
            }
            operations.append(operation)
        }
        let all = operations.shuffled(using: &random)
        run.describe {
            let stuck = all.lazy.filter { !$0.isFinished && $0.isReady }.prefix(5).map(\.description)
            return "\(all.filter(\.isFinished).count) of \(all.count) are finished; ready: \(Array(stuck))"
        }
        together(4) { thread in
            for index in stride(from: thread, to: all.count, by: 4) {
                queues[index % queues.count].addOperation(all[index])
            }
            for index in stride(from: thread, to: queues.count, by: 4) { queues[index].isSuspended = false }
        }
        for queue in queues {
            queue.waitUntilAllOperationsAreFinished()
            run.require(queue.operationCount == 0 && queue.operations.isEmpty, "an empty queue counts \(queue)")
        }
        for operation in all { run.require(operation.runs == 1, "\(operation) ran \(operation.runs) times (E24)") }
        run.count(all.count)
        run.describe { "all is finished, but \(live.value) objects are not released (contract Q2)" }
    }
    run.await { live.value == 0 }
}

/// An operation that checks in main that those before it have run.
final class LinkedOperation: Operation, @unchecked Sendable {
    private let run: StressRun
    private let live: LiveCount
    private var before: [LinkedOperation] = []
    /// Written by main, read by the followers': unlocked on purpose.
    private(set) var runs = 0

    init(_ run: StressRun, _ live: LiveCount) {
        self.run = run
        self.live = live
        live.add()
        super.init()
    }

    deinit { live.remove() }

    /// Before it is added.
    func follow(_ operation: LinkedOperation) {
        before.append(operation)
        addDependency(operation)
    }

    override func main() {
        runs += 1
        for operation in before where operation.runs != 1 { run.violated("\(self) ran before \(operation) (E24)") }
        before = []
        run.advance()
    }
}

/// How many objects there are.
final class LiveCount: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add() { count.add(1, ordering: .relaxed) }
    func remove() { count.subtract(1, ordering: .relaxed) }
}

/// A queue that is counted while it lives.
final class CountedQueue: OperationQueue, @unchecked Sendable {
    private let live: LiveCount

    init(_ live: LiveCount) {
        self.live = live
        live.add()
        super.init()
    }

    deinit { live.remove() }
}
