import OperationEngine
import TestSupport
import Testing

/// Makes each operation depend on the next, and the last on the first.
func close(_ cycle: [Operation]) {
    for (dependent, dependency) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
        dependent.addDependency(dependency)
    }
}

/// Undoes `close`, so that the operations can be released.
func reopen(_ cycle: [Operation]) {
    for (dependent, dependency) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
        dependent.removeDependency(dependency)
    }
}

/// Says that it is equal to all of its kind, or to nothing, not even itself.
final class OddlyEqual: Operation, @unchecked Sendable {
    private let isEqualToAll: Bool
    private let hashes = Counter()

    init(toAll: Bool) {
        isEqualToAll = toAll
        super.init()
    }

    override func isEqual(_ object: Any?) -> Bool { isEqualToAll && object is OddlyEqual }
    override var hash: Int {
        if !isEqualToAll { hashes.add() }
        return hashes.value
    }
}

@Suite("E15: finding cycles of dependencies", .blocking)
struct DependencyCycleTests {
    private let operations = (0..<6).map { index in
        let operation = MainOperation()
        operation.name = "\(index)"
        return operation
    }

    /// Whether the found ones are the expected cycle, wherever it begins.
    private func isCycle(_ found: [Operation]?, _ expected: [Operation]) -> Bool {
        guard let found, let first = found.first, found.count == expected.count,
            let start = expected.firstIndex(of: first)
        else { return false }
        return areSame(found, Array(expected[start...] + expected[..<start]))
    }

    @Test("none in nothing, in a chain and in a diamond", .contract("E15"))
    func none() {
        #expect(OperationQueue.dependencyCycle(among: []) == nil)
        #expect(OperationQueue.dependencyCycle(among: operations) == nil)
        for (dependency, dependent) in zip(operations, operations.dropFirst()) { dependent.addDependency(dependency) }
        operations[3].addDependency(operations[0])
        operations[5].addDependency(operations[2])
        #expect(OperationQueue.dependencyCycle(among: operations) == nil)
        #expect(OperationQueue.dependencyCycle(among: operations.reversed()) == nil)
    }

    @Test(
        "operations are distinguished by identity, whatever their isEqual and hash return", .contract("E15"),
        arguments: [true, false])
    func identity(isEqualToAll: Bool) {
        let chain = (0..<4).map { _ in OddlyEqual(toAll: isEqualToAll) }
        for (dependent, dependency) in zip(chain, chain.dropFirst()) { dependent.addDependency(dependency) }
        #expect(OperationQueue.dependencyCycle(among: chain) == nil)
        #expect(EndlessWait.reason(forOperation: chain[0]) == nil)
        chain[3].addDependency(chain[1])
        let cycle = OperationQueue.dependencyCycle(among: chain)
        #expect(cycle.map { areSame($0, Array(chain[1...])) } == true)
        #expect(EndlessWait.reason(forOperation: chain[0])?.contains("cycle") == true)
        chain[3].removeDependency(chain[1])
    }

    @Test("the members of a cycle in order, whichever of them is given", .contract("E15"), arguments: 2...6)
    func cycle(of size: Int) {
        let cycle = Array(operations.prefix(size))
        close(cycle)
        #expect(isCycle(OperationQueue.dependencyCycle(among: operations), cycle))
        for member in cycle { #expect(isCycle(OperationQueue.dependencyCycle(among: [member]), cycle)) }
        reopen(cycle)
    }

    @Test("a cycle that the given operations only depend on", .contract("E15"))
    func behind() {
        let cycle = Array(operations[2...4])
        close(cycle)
        operations[0].addDependency(operations[1])
        operations[0].addDependency(operations[3])
        operations[1].addDependency(operations[3])
        #expect(isCycle(OperationQueue.dependencyCycle(among: [operations[5], operations[0]]), cycle))
        #expect(OperationQueue.dependencyCycle(among: [operations[5]]) == nil)
        reopen(cycle)
    }

    @Test("it is broken by a cancelled member, a removed dependency, a finished one", .contract("E15", "E16"))
    func broken() {
        let cycle = Array(operations.prefix(3))
        close(cycle)
        cycle[1].removeDependency(cycle[2])
        #expect(OperationQueue.dependencyCycle(among: cycle) == nil)
        cycle[1].addDependency(cycle[2])
        #expect(isCycle(OperationQueue.dependencyCycle(among: cycle), cycle))
        cycle[1].cancel()
        #expect(OperationQueue.dependencyCycle(among: cycle) == nil)
        cycle[1].start()
        #expect(OperationQueue.dependencyCycle(among: cycle) == nil)
        reopen(cycle)
    }

    @Test("a dependency added to an executing operation closes no cycle", .contract("E15", "E19"))
    func tooLate() {
        let dependent = operations[0]
        let found = Recorder<Bool>()
        let executing = MainOperation {
            $0.addDependency(dependent)
            found.append(OperationQueue.dependencyCycle(among: [$0, dependent]) != nil)
        }
        dependent.addDependency(executing)
        executing.start()
        #expect(found.entries == [false])
        executing.removeDependency(dependent)
        // `executing` holds the block that holds `dependent`.
        dependent.removeDependency(executing)
    }

    @Test("in random graphs a cycle is found if there is one, and is one", .contract("E15"))
    func randomGraphs() throws {
        var generator = SeededGenerator(seed: announcedSeed("cycles"))
        for _ in 0..<Scale.of(2000) {
            let count = Int.random(in: 2...12, using: &generator)
            let nodes = (0..<count).map { _ in MainOperation() }
            var edges: Set<[Int]> = []
            for _ in 0..<Int.random(in: 0...count + 3, using: &generator) {
                let pair = [Int.random(in: 0..<count, using: &generator), Int.random(in: 0..<count, using: &generator)]
                guard pair[0] != pair[1] else { continue }
                edges.insert(pair)
                nodes[pair[0]].addDependency(nodes[pair[1]])
            }
            let found = OperationQueue.dependencyCycle(among: nodes)
            #expect((found != nil) == hasCycle(count, edges))
            if let found {
                #expect(Set(found).count == found.count)
                for (dependent, dependency) in zip(found, found.dropFirst() + found.prefix(1)) {
                    #expect(dependent.dependencies.contains(dependency))
                }
            }
            for edge in edges { nodes[edge[0]].removeDependency(nodes[edge[1]]) }
        }
    }

    /// Takes away, again and again, what depends on nothing that is left.
    private func hasCycle(_ count: Int, _ edges: Set<[Int]>) -> Bool {
        var left = Set(0..<count)
        while let free = left.first(where: { node in !edges.contains { $0[0] == node && left.contains($0[1]) } }) {
            left.remove(free)
        }
        return !left.isEmpty
    }

    @Test("a cycle of 1,000,000, and a chain without a cycle", .contract("E15", "E22"))
    func large() {
        let length = Scale.of(1_000_000)
        let freed = Counter()
        do {
            let cycle = (0..<length).map { _ in CountedOperation(freed: freed) }
            close(cycle)
            let found = OperationQueue.dependencyCycle(among: cycle)
            #expect(found?.count == length)
            cycle[length / 2].removeDependency(cycle[length / 2 + 1])
            #expect(OperationQueue.dependencyCycle(among: cycle) == nil)
        }
        freed.wait(for: length)
    }

    @Test("while other threads add, remove, cancel and run", .contract("E15"))
    func meanwhile() {
        let rounds = Scale.of(1000)
        let shared = (0..<20).map { _ in MainOperation() }
        let queue = makeQueue()
        onThreads(3) { thread in
            var generator = SeededGenerator(seed: UInt64(thread))
            for round in 0..<rounds {
                let pair = (0..<2).map { _ in shared[Int.random(in: 0..<20, using: &generator)] }
                if thread == 0 {
                    _ = OperationQueue.dependencyCycle(among: shared)
                } else if pair[0] !== pair[1] {
                    pair[0].addDependency(pair[1])
                    if thread == 1 { pair[0].removeDependency(pair[1]) }
                }
                if thread == 2, round % (rounds / 10) == 0, round / (rounds / 10) < 10 {
                    queue.addOperation(shared[round / (rounds / 10)])
                }
            }
        }
        queue.cancelAllOperations()
        drains(queue)
        for operation in shared {
            for dependency in operation.dependencies { operation.removeDependency(dependency) }
        }
    }
}
