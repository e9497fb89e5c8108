import OperationEngine
import TestSupport
import Testing

/// Graphs that overflow a stack or a cache where somebody recurses or scans. Sizes shrink under a sanitizer; that
/// they end at all within the hang limit shows that the cost is linear: at Foundation's, a chain of a million takes
/// days.
@Suite("E22, E23, M15: large graphs", .blocking, .serialized)
struct LargeGraphTests {
    /// Adds every operation's predecessor as its dependency.
    private func link(_ chain: [Operation], atOnce: Bool = false) {
        if atOnce {
            // With one dependency alone they would not be in a graph.
            let pairs = chain.indices.dropFirst().flatMap { [(of: $0, on: $0 - 1), (of: $0, on: max(0, $0 - 2))] }
            return Operation.addDependencies(pairs, among: chain)
        }
        for (dependency, dependent) in zip(chain, chain.dropFirst()) { dependent.addDependency(dependency) }
    }

    @Test("a chain of 1,000,000 runs in order and is released", .contract("E22", "E23"), arguments: [false, true])
    func chain(atOnce: Bool) {
        let length = Scale.of(1_000_000)
        let freed = Counter()
        let order = OrderCheck()
        let queue = makeQueue()
        do {
            let operations = (0..<length).map { index in
                CountedOperation(freed: freed) { order.visit(index) }
            }
            link(operations, atOnce: atOnce)
            queue.addOperations(operations, waitUntilFinished: false)
        }
        drains(queue)
        #expect(order.isInOrder && order.visits == length)
        freed.wait(for: length)
    }

    /// A link may have a second dependency, or own an operation that has one.
    @Test(
        "a chain of 1,000,000 that never ran is released by its last link", .contract("E22"),
        arguments: [(others: 0, owned: 0), (others: 1, owned: 0), (others: 0, owned: 1), (others: 1, owned: 1)])
    func releaseChain(others: Int, owned: Int) {
        let length = Scale.of(others + owned == 0 ? 1_000_000 : 100_000)
        let freed = Counter()
        var last: Operation? = CountedOperation(freed: freed)
        for _ in 1..<length {
            let properties = (0..<owned).map { _ in CountedOperation(freed: freed) }
            for property in properties { property.addDependency(CountedOperation(freed: freed)) }
            let next = CountedOperation(freed: freed) { _ = properties }
            if let last { next.addDependency(last) }
            for _ in 0..<others { next.addDependency(CountedOperation(freed: freed)) }
            last = next
        }
        #expect(freed.value == 0)
        last = nil
        freed.wait(for: length + (length - 1) * (others + 2 * owned))
    }

    @Test("a long chain is cancelled, finished and released", .contract("E22", "J8"), arguments: [false, true])
    func cancelChain(atOnce: Bool) {
        let length = Scale.of(1_000_000)
        let freed = Counter()
        let runs = Counter()
        let queue = makeQueue(suspended: true)
        do {
            let operations = (0..<length).map { _ in CountedOperation(freed: freed) { runs.add() } }
            link(operations, atOnce: atOnce)
            queue.addOperations(operations, waitUntilFinished: false)
        }
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 0)
        freed.wait(for: length)
    }

    @Test("a long chain added last link first", .contract("E20", "E23"))
    func reverseChain() {
        let length = Scale.of(200_000)
        let order = OrderCheck()
        let queue = makeQueue(limit: 4)
        let operations = (0..<length).map { index in MainOperation { _ in order.visit(index) } }
        link(operations)
        for operation in operations.reversed() { queue.addOperation(operation) }
        drains(queue)
        #expect(order.isInOrder && order.visits == length)
    }

    @Test("one operation unlocks 1,000,000", .contract("E23"))
    func fan() {
        let width = Scale.of(1_000_000)
        let freed = Counter()
        let queue = makeQueue()
        let runs = Counter()
        let root = MainOperation()
        do {
            let dependents = (0..<width).map { _ in CountedOperation(freed: freed) { runs.add() } }
            for dependent in dependents { dependent.addDependency(root) }
            queue.addOperations(dependents, waitUntilFinished: false)
        }
        #expect(runs.value == 0)
        queue.addOperation(root)
        drains(queue)
        #expect(runs.value == width)
        freed.wait(for: width)
    }

    @Test("one operation waits for 1,000,000", .contract("E4", "E23"))
    func join() {
        let width = Scale.of(1_000_000)
        let freed = Counter()
        let queue = makeQueue()
        let runs = Counter()
        let seen = Recorder<Int>()
        do {
            let last = CountedOperation(freed: freed) { seen.append(runs.value) }
            let dependencies = (0..<width).map { _ in CountedOperation(freed: freed) { runs.add() } }
            for dependency in dependencies { last.addDependency(dependency) }
            queue.addOperation(last)
            queue.addOperations(dependencies, waitUntilFinished: false)
        }
        drains(queue)
        #expect(seen.entries == [width])
        freed.wait(for: width + 1)
    }

    @Test("dependents of one operation are removed and freed in linear time", .contract("E13", "E21"))
    func unlinkFan() {
        let width = Scale.of(200_000)
        let root = MainOperation()
        var dependents = (0..<width).map { _ in MainOperation() }
        for dependent in dependents { dependent.addDependency(root) }
        for dependent in dependents[..<(width / 2)] { dependent.removeDependency(root) }
        #expect(dependents[..<(width / 2)].allSatisfy { $0.isReady })
        dependents = []
        root.start()
        #expect(root.isFinished)
    }

    @Test("a million trivial operations complete and are released", .contract("M15"))
    func manyOperations() {
        let count = Scale.of(1_000_000)
        let freed = Counter()
        let queue = makeQueue()
        for _ in 0..<count { queue.addOperation(CountedOperation(freed: freed)) }
        drains(queue)
        #expect(queue.operationCount == 0)
        freed.wait(for: count)
    }

    @Test("a large queue is listed and cancelled", .contract("J10", "M9"))
    func cancelMany() {
        let count = Scale.of(200_000)
        let runs = Counter()
        let queue = makeQueue(suspended: true)
        for _ in 0..<count { queue.addOperation { runs.add() } }
        #expect(queue.operations.count == count && queue.operationCount == count)
        queue.cancelAllOperations()
        queue.isSuspended = false
        drains(queue)
        #expect(runs.value == 0)
    }
}

/// Checks that indexes come in ascending order, without a lock: the operations' own order makes it safe, and
/// ThreadSanitizer says if it does not.
final class OrderCheck: @unchecked Sendable {
    private(set) var visits = 0
    private(set) var isInOrder = true

    func visit(_ index: Int) {
        isInOrder = isInOrder && index == visits
        visits += 1
    }
}
