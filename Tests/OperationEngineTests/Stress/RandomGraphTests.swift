import Dispatch
import Glibc
import OperationEngine
import TestSupport
import Testing

/// Random acyclic graphs in several queues, on the pool and on queues of Dispatch, while other threads cancel, suspend,
/// change priorities and limits, and add and remove dependencies. Each graph's seed is printed; `OPBENCH_TEST=seed=7`
/// replays it, `size=` sets how many there are.
@Suite("Stress: random graphs", .blocking, .serialized)
struct RandomGraphTests {
    private static let graphs =
        TestRun.number("size") ?? Scale.of(200)

    @Test("every operation finishes once, and runs after all that it depends on", .contract("E24", "A5", "Q8"))
    func storm() {
        let seed = announcedSeed("random graphs")
        for index in 0..<Self.graphs {
            let graph = RandomGraph(seed: seed &+ UInt64(index), size: 200)
            guard graph.run() else {
                Issue.record("graph \(index) of seed \(seed) hangs")
                return
            }
            let violations = graph.violations
            #expect(violations.isEmpty, "graph \(index) of seed \(seed)")
            guard violations.isEmpty else { return }
        }
    }

    @Test("without any storm, every operation runs, and sees all that its predecessors wrote", .contract("E24"))
    func calm() {
        let seed = announcedSeed("calm graphs")
        for index in 0..<Self.graphs {
            let graph = RandomGraph(seed: seed &+ UInt64(index), size: 300, isCalm: true)
            guard graph.run() else { return }
            #expect(graph.violations.isEmpty, "graph \(index) of seed \(seed)")
        }
    }

    @Test("graphs leave no operation behind", .contract("Q7"))
    func nothingIsLeft() {
        let freed = Counter()
        let seed = announcedSeed("released graphs")
        for index in 0..<20 {
            let graph = RandomGraph(seed: seed &+ UInt64(index), size: 100, freed: freed)
            guard graph.run() else { return }
        }
        freed.wait(for: 20 * 100)
        #expect(freed.value == 20 * 100)
    }
}

/// An operation of a random graph, which checks its own rights in main.
private final class Node: Operation, @unchecked Sendable {
    let index: Int
    let runs = Counter()
    let completions = Counter()
    let faults = Recorder<String>()
    /// Dependencies that no storm removes.
    var fixed: [Node] = []
    /// Dependencies added late that were seen to hold the operation back.
    let holding = Guarded<[Node]>([])
    /// Written by main, read by dependents' mains without a lock: the engine's order must make that safe.
    private var depth = 0
    private let freed: Counter?

    init(index: Int, freed: Counter?) {
        self.index = index
        self.freed = freed
        super.init()
    }

    deinit { freed?.add() }

    override func main() {
        runs.add()
        for dependency in fixed + holding.read() where !dependency.isFinished {
            faults.append("\(index) runs before \(dependency.index) is finished")
        }
        depth = (fixed.map(\.depth).max() ?? 0) + 1
    }
}

/// One random graph and the storm over it.
private final class RandomGraph: @unchecked Sendable {
    private let seed: UInt64
    private let isCalm: Bool
    private let nodes: [Node]
    private let queues: [OperationQueue]
    private let total = Counter()

    init(seed: UInt64, size: Int, isCalm: Bool = false, freed: Counter? = nil) {
        self.seed = seed
        self.isCalm = isCalm
        var random = SeededGenerator(seed: seed)
        nodes = (0..<size).map { Node(index: $0, freed: freed) }
        queues = [-1, 1, 3].map { makeQueue(limit: $0, suspended: Bool.random(using: &random)) }
        for queue in queues {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: queue.underlyingQueue = DispatchQueue(label: "serial")
            case 1: queue.underlyingQueue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            default: break
            }
        }
        let reach = Int.random(in: 1...size, using: &random)
        for node in nodes.dropFirst() {
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let dependency = nodes[Int.random(in: max(0, node.index - reach)..<node.index, using: &random)]
                guard !node.fixed.contains(where: { $0 === dependency }) else { continue }
                node.fixed.append(dependency)
            }
        }
        if seed.isMultiple(of: 2) {
            let pairs = nodes.flatMap { node in node.fixed.map { (of: node.index, on: $0.index) } }
            Operation.addDependencies(pairs, among: nodes)
        } else {
            for node in nodes { node.fixed.forEach(node.addDependency) }
        }
        for node in nodes {
            let (completions, total) = (node.completions, total)
            node.completionBlock = {
                completions.add()
                total.add()
            }
        }
    }

    /// Adds the nodes and lets the storm rage; returns whether everything finished.
    func run() -> Bool {
        let plan = plannedPlaces()
        let done = completes("storming a random graph") { [self] in
            onThreads(isCalm ? 1 : 3) { [self] thread in
                if thread == 0 {
                    for (index, queue) in plan { queues[queue].addOperation(nodes[index]) }
                } else {
                    storm(SeededGenerator(seed: seed &+ UInt64(thread) &* 0x1_0001))
                }
            }
        }
        for queue in queues { queue.isSuspended = false }
        for (queue, limit) in zip(queues, [-1, 1, 3]) { queue.maxConcurrentOperationCount = limit }
        let areDrained = queues.allSatisfy { drains($0) }
        return done && areDrained && total.wait(for: nodes.count)
    }

    /// The order of adding, random, and each node's queue.
    private func plannedPlaces() -> [(node: Int, queue: Int)] {
        var random = SeededGenerator(seed: ~seed)
        return nodes.indices.shuffled(using: &random).map { ($0, Int.random(in: 0..<queues.count, using: &random)) }
    }

    private func storm(_ generator: SeededGenerator) {
        var random = generator
        for _ in 0..<nodes.count {
            let node = nodes[Int.random(in: 1..<nodes.count, using: &random)]
            let earlier = nodes[Int.random(in: 0..<node.index, using: &random)]
            let queue = queues[Int.random(in: 0..<queues.count, using: &random)]
            switch Int.random(in: 0..<13, using: &random) {
            case 0: node.cancel()
            case 1: queue.isSuspended = true
            case 2, 3: queue.isSuspended = false
            case 4, 5: node.queuePriority = Operation.QueuePriority.allCases.randomElement(using: &random) ?? .normal
            case 6: queue.maxConcurrentOperationCount = Int.random(in: 0...4, using: &random)
            case 7: addLate(earlier, to: node)
            case 8: addAndRemove(earlier, node)
            case 9: node.threadPriority = Bool.random(using: &random) ? 0.5 : 0.375
            case 10: node.qualityOfService = Bool.random(using: &random) ? .background : .userInitiated
            case 11: _ = (queue.operations.count, node.dependencies.count, queue.operationCount)
            default: _ = node.waitUntilFinished(timeout: .microseconds(10))
            }
        }
    }

    /// Adds an edge from an earlier node, which keeps the graph acyclic. If it is seen to hold the node back, it must.
    /// Only from nodes of even index; the others are for `addAndRemove`, which must not take these away.
    private func addLate(_ dependency: Node, to node: Node) {
        guard dependency.index % 2 == 0 else { return }
        node.addDependency(dependency)
        if !node.isReady && !dependency.isFinished {
            node.holding.withLock { $0.append(dependency) }
        }
    }

    /// Adds an edge and takes it away again, unless it is one that must stay.
    private func addAndRemove(_ dependency: Node, _ node: Node) {
        guard dependency.index % 2 == 1, !node.fixed.contains(where: { $0 === dependency }) else { return }
        node.addDependency(dependency)
        node.removeDependency(dependency)
    }

    /// The faults after the run, in words.
    var violations: [String] {
        nodes.flatMap { node -> [String] in
            var faults = node.faults.entries
            let flags = StateFlags(node)
            if !flags.finished || flags.executing { faults.append("\(node.index) is not finished") }
            if node.runs.value != (node.isCancelled ? min(1, node.runs.value) : 1) {
                faults.append("\(node.index) ran \(node.runs.value) times")
            }
            if node.completions.value != 1 { faults.append("\(node.index) completed \(node.completions.value) times") }
            return faults
        }
    }
}
