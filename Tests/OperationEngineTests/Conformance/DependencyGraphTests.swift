import TestSupport
import Testing

@testable import OperationEngine

/// `addDependencies(_:among:)`, which has to make the same difference as `addDependency` for each pair.
@Suite("E: dependencies that are added in one step", .blocking)
struct DependencyGraphTests {
    private func operations(_ count: Int) -> [MainOperation] { (0..<count).map { _ in MainOperation() } }

    @Test("they are listed in the order of the pairs, without repetitions", .contract("E9", "E12"))
    func order() {
        let all = operations(4)
        Operation.addDependencies([(3, 2), (3, 0), (1, 0), (3, 2), (3, 1)], among: all)
        #expect(areSame(all[3].dependencies, [all[2], all[0], all[1]]))
        #expect(areSame(all[1].dependencies, [all[0]]))
        #expect(all[0].dependencies.isEmpty && all[0].isReady && !all[1].isReady)
    }

    @Test("each is ready once all that it depends on has finished", .contract("E1", "E4", "E10", "E11"))
    func readiness() {
        let all = operations(4)
        Operation.addDependencies([(2, 0), (2, 1), (3, 2), (3, 0), (3, 0)], among: all)
        all[0].start()
        #expect(!all[2].isReady && !all[3].isReady)
        all[1].start()
        #expect(all[2].isReady && !all[3].isReady)
        all[2].start()
        #expect(all[3].isReady)
        #expect(areSame(all[3].dependencies, [all[2], all[0]]))
    }

    @Test("a finished dependency is listed, and never counts", .contract("E10"))
    func finished() {
        let calls = Counter()
        let (done, ready) = (operations(2), MainOperation())
        for operation in done { operation.start() }
        let odd = OwnAdding(calls) { #expect(ready.isReady) }
        Operation.addDependencies([(2, 0), (2, 1), (3, 0)], among: done + [ready, odd])
        #expect(areSame(ready.dependencies, done) && areSame(odd.dependencies, [done[0]]))
        #expect(ready.isReady && odd.isReady && calls.value == 1)
    }

    @Test("a dependency that is removed holds nothing back, whether it has finished or not", .contract("E9", "E13"))
    func removal() {
        let all = operations(3)
        Operation.addDependencies([(2, 0), (2, 1), (2, 0)], among: all)
        all[1].start()
        for index in [1, 0] { all[2].removeDependency(all[index]) }
        #expect(all[2].isReady && all[2].dependencies.isEmpty)
        all[2].addDependency(all[0])
        #expect(!all[2].isReady && areSame(all[2].dependencies, [all[0]]))
        all[0].start()
        #expect(all[2].isReady)
    }

    @Test("dependencies added before and after count as well", .contract("E4", "E12"))
    func mixed() {
        let all = operations(3)
        let (before, after, follower) = (MainOperation(), MainOperation(), MainOperation())
        all[1].addDependency(before)
        Operation.addDependencies([(1, 0), (2, 1), (2, 0)], among: all)
        all[1].addDependency(after)
        all[2].addDependency(after)
        follower.addDependency(all[0])
        #expect(areSame(all[1].dependencies, [before, all[0], after]))
        #expect(areSame(all[2].dependencies, [all[1], all[0], after]))
        all[0].start()
        #expect(follower.isReady && !all[1].isReady)
        before.start()
        #expect(!all[1].isReady)
        after.start()
        #expect(all[1].isReady && !all[2].isReady)
        all[1].start()
        #expect(all[2].isReady)
    }

    /// Too many for one batch of the finishing thread, some of them without and some with an edge.
    @Test("dependents of both kinds are counted down", .contract("E4", "E23"), arguments: [1, 70, 200])
    func dependents(edges: Int) {
        let all = operations(151)
        let others = operations(edges)
        Operation.addDependencies((1...150).map { ($0, 0) }, among: all)
        for other in others { other.addDependency(all[0]) }
        all[0].start()
        #expect(all[1...].allSatisfy(\.isReady) && others.allSatisfy(\.isReady))
    }

    @Test("an operation may have any number", .contract("E4", "E12", "E13"), arguments: [62, 63, 64, 200])
    func many(count: Int) {
        let all = operations(count + 1)
        Operation.addDependencies((0..<count).map { (count, $0) }, among: all)
        #expect(areSame(all[count].dependencies, Array(all.dropLast())))
        for index in 0..<(count - 2) { all[index].start() }
        #expect(!all[count].isReady)
        all[count].removeDependency(all[count - 1])
        #expect(!all[count].isReady)
        all[count - 2].start()
        #expect(all[count].isReady)
    }

    @Test("what cannot be in a graph gets its dependencies one by one", .contract("E1", "D1", "F8"), arguments: 0..<6)
    func exceptions(kind: Int) {
        let calls = Counter()
        let unready = kind == 3 ? OwnReadiness() : nil
        let odd = kind == 2 ? OwnAdding(calls) : unready ?? BlockOperation {}
        let all = [BlockOperation {}, odd, BlockOperation {}, BlockOperation {}]
        let earlier = BlockOperation {}
        let changes = Counter()
        let token = odd.observe(\.dependencies) { _, _ in changes.add() }
        switch kind {
        case 0: odd.addDependency(earlier)
        case 1: earlier.addDependency(odd)
        case 4: odd.start()
        case 5: all[0].start()
        default: break
        }
        if kind != 3 { token.invalidate() }
        let before = changes.value
        Operation.addDependencies([(1, 0), (2, 1), (3, 1), (3, 0), (3, 2)], among: all)
        if kind == 2 { #expect(calls.value == 1) }
        if kind == 3 { #expect(changes.value - before == 1) }
        #expect(areSame(odd.dependencies, kind == 0 ? [earlier, all[0]] : [all[0]]))
        #expect(areSame(all[3].dependencies, [all[1], all[0], all[2]]))
        for operation in [all[0], earlier] where !operation.isFinished && operation.isReady { operation.start() }
        #expect(!all[3].isReady && all[2].isReady == (kind == 4))
        if !odd.isFinished { odd.start() }
        #expect(all[2].isReady && !all[3].isReady)
        all[2].start()
        #expect(all[3].isReady)
    }

    @Test("a chain needs no node", .contract("E1", "E12", "E22"))
    func chain() {
        let all = operations(4)
        let side = MainOperation()
        Operation.addDependencies([(1, 0), (2, 1), (3, 2), (4, 1)], among: all + [side])
        #expect(areSame(all[3].dependencies, [all[2]]) && areSame(side.dependencies, [all[1]]))
        #expect(!all[1].isReady)
        for operation in all[...1] { operation.start() }
        #expect(all[2].isReady && side.isReady && !all[3].isReady)
        all[2].start()
        #expect(all[3].isReady)
    }

    @Test("an operation may be named twice, and be in two graphs", .contract("E1", "E9"))
    func repeated() {
        let all = operations(3)
        Operation.addDependencies([(1, 0), (2, 0), (3, 2)], among: [all[0], all[1], all[1], all[2]])
        #expect(areSame(all[1].dependencies, [all[0]]) && areSame(all[2].dependencies, [all[1]]))
        let last = MainOperation()
        Operation.addDependencies([(1, 0), (2, 1), (2, 0)], among: [all[0], all[2], last])
        #expect(areSame(all[2].dependencies, [all[1], all[0]]))
        for operation in all { operation.start() }
        #expect(last.isReady)
    }

    @Test("an operation that is gone is not touched, and keeps nothing alive", .contract("E21", "Q1"))
    func release() {
        let freed = Counter()
        let first = CountedOperation(freed: freed)
        var last: Operation? = CountedOperation(freed: freed)
        do {
            let middle = (0..<3).map { _ in CountedOperation(freed: freed) }
            Operation.addDependencies(
                [(1, 0), (2, 0), (3, 0), (4, 2), (4, 0)], among: [first] + middle + [last!])
        }
        #expect(freed.value == 2)
        last = nil
        #expect(freed.value == 4)
        first.start()
        #expect(first.isFinished)
    }

    @Test("a cancelled operation does not wait for them", .contract("E16", "J4"))
    func cancellation() {
        let all = operations(3)
        Operation.addDependencies([(0, 1), (1, 0), (0, 2), (1, 2)], among: all)
        #expect(OperationQueue.dependencyCycle(among: all)?.count == 2)
        all[0].cancel()
        #expect(all[0].isReady)
        for index in [0, 2] { all[index].start() }
        #expect(all[1].isReady)
        all[1].removeDependency(all[0])
    }

    @Test("a snapshot counts them", .contract("X6"))
    func snapshot() {
        let queue = makeQueue(suspended: true)
        let all = operations(21)
        Operation.addDependencies((1...20).map { (0, $0) }, among: all)
        all[20].start()
        queue.addOperation(all[0])
        let entry = queue.snapshot().entries[0]
        #expect(entry.unfinishedDependencies == 19 && entry.dependencies.count == 8)
        all[0].cancel()
        queue.isSuspended = false
        drains(queue)
    }
}

private final class OwnAdding: Operation, @unchecked Sendable {
    private let calls: Counter
    private let check: @Sendable () -> Void

    init(_ calls: Counter, _ check: @escaping @Sendable () -> Void = {}) {
        (self.calls, self.check) = (calls, check)
        super.init()
    }

    override func addDependency(_ operation: Operation) {
        calls.add()
        check()
        super.addDependency(operation)
    }
}

private final class OwnReadiness: Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady }
}
