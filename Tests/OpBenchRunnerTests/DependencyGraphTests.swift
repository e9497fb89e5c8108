import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchModel
@testable import OpBenchRunner

@Suite(.onOwnThreads) struct DependencyGraphTests {
    private func graph(_ kind: String, width: Int = 1, layers: Int = 1, degree: Int = 1, seed: Int = 1) throws
        -> DependencyGraph
    {
        let parameters = """
            {"kind": "\(kind)", "width": \(width), "layers": \(layers), "degree": \(degree), "seed": \(seed)}
            """
        return try #require(Fixture.plan("graph", parameters).graph)
    }

    private func predecessors(_ graph: DependencyGraph) -> [[Int]] {
        (0..<graph.operationCount).map { graph.predecessors[$0].map(Int.init) }
    }

    @Test func `fan_out: all wait for the first`() throws {
        let graph = try graph("fan_out", width: 3, layers: 9)
        #expect(predecessors(graph) == [[], [0], [0], [0]])
        #expect(graph.successors[0].map(Int.init) == [1, 2, 3])
        #expect(graph.sources == [0] && graph.sinks == [1, 2, 3] && graph.span == 2)
    }

    @Test func `fan_in: the last waits for all`() throws {
        let graph = try graph("fan_in", width: 3)
        #expect(predecessors(graph) == [[], [], [], [0, 1, 2]])
        #expect(graph.sources == [0, 1, 2] && graph.sinks == [3] && graph.span == 2)
    }

    @Test func `diamond: fan out and in, repeatedly`() throws {
        let graph = try graph("diamond", width: 2, layers: 2)
        #expect(predecessors(graph) == [[], [0], [0], [1, 2], [3], [3], [4, 5]])
        #expect(graph.sources == [0] && graph.sinks == [6] && graph.span == 5)
    }

    @Test func `binary_tree: two wait for their parent`() throws {
        let graph = try graph("binary_tree", layers: 3)
        #expect(predecessors(graph) == [[], [0], [0], [1], [1], [2], [2]])
        #expect(graph.sinks == [3, 4, 5, 6] && graph.levels == [1, 2, 2, 3, 3, 3, 3])
    }

    @Test func `wavefront: each waits for its upper and its left neighbour`() throws {
        let graph = try graph("wavefront", width: 3, layers: 2)
        #expect(predecessors(graph) == [[], [0], [1], [0], [1, 3], [2, 4]])
        #expect(graph.levels == [1, 2, 3, 2, 3, 4] && graph.sinks == [5])
    }

    @Test func `layered_random: the given number of distinct predecessors from the row above, drawn by the seed`()
        throws
    {
        let drawn = try graph("layered_random", width: 20, layers: 5, degree: 3, seed: 4)
        for operation in 20..<100 {
            let rowAbove = operation / 20 - 1
            let row = drawn.predecessors[operation]
            #expect(Set(row).count == 3 && row.allSatisfy { Int($0) / 20 == rowAbove })
            #expect(drawn.levels[operation] == UInt32(rowAbove + 2))
        }
        #expect(try graph("layered_random", width: 20, layers: 5, degree: 3, seed: 4) == drawn)
        let other = try graph("layered_random", width: 20, layers: 5, degree: 3, seed: 5)
        #expect(other.predecessors != drawn.predecessors)
        // Every predecessor in a row is drawn eventually: 240 draws of 20 miss one with a probability of 1 in 10^4.
        #expect(Set(drawn.predecessors.targets.map { $0 % 20 }).count == 20)
        #expect(try graph("layered_random", width: 2, layers: 2, degree: 9).dependencyCount == 4)
    }

    @Test(arguments: GraphKind.allCases) func `both directions have the same edges, in the predicted number`(
        _ kind: GraphKind
    ) throws {
        let graph = try graph(kind.rawValue, width: 7, layers: 4, degree: 3)
        var forth: Set<[Int]> = []
        var back: Set<[Int]> = []
        for operation in 0..<graph.operationCount {
            for predecessor in graph.predecessors[operation] {
                #expect(Int(predecessor) < operation)
                forth.insert([Int(predecessor), operation])
            }
            for successor in graph.successors[operation] { back.insert([operation, Int(successor)]) }
        }
        #expect(forth == back)
        let size = try #require(graph.size)
        #expect(forth.count == graph.dependencyCount && graph.dependencyCount == size.dependencyCount)
        #expect(graph.operationCount == size.operationCount)
    }

    @Test(arguments: GraphKind.allCases) func `a shortened graph is of the same kind`(_ kind: GraphKind) throws {
        let long = try graph(kind.rawValue, width: 300, layers: 14, degree: 5)
        let short = long.shortened(to: 100)
        #expect(short.size?.kind == kind && (2...100).contains(short.operationCount))
        #expect(short.dependencyCount > 0)
        #expect(long.shortened(to: 1_000_000) == long)
    }

    @Test func `no makespan is shorter than the span, or than the work on all processors`() throws {
        // 1 + 6 + 1 operations of 1 µs: 8 µs of work, 3 µs on the longest path.
        let diamond = #""kind": "diamond", "width": 6, "layers": 1, "work_ns": 1000"#
        let plan = try Fixture.plan("graph", "{\(diamond)}")
        #expect(plan.idealMakespan(processors: 1) == 8000)
        #expect(plan.idealMakespan(processors: 2) == 4000)
        #expect(plan.idealMakespan(processors: 100) == 3000)
        let limited = try Fixture.plan("graph", "{\(diamond), \"max_concurrent\": 1}")
        #expect(limited.idealMakespan(processors: 100) == 8000)
    }

    @Test func `a chain's span is its depth; without work or dependencies there is no ideal`() throws {
        let chains = #""depth": 10, "chains": 4"#
        #expect(try Fixture.plan("chain", "{\(chains), \"work_ns\": 100}").idealMakespan(processors: 8) == 1000)
        #expect(try Fixture.plan("chain", "{\(chains), \"work_ns\": 100}").idealMakespan(processors: 2) == 2000)
        let crossing = try Fixture.plan("chain", "{\(chains), \"queues\": 2, \"max_concurrent\": 1, \"work_ns\": 100}")
        #expect(crossing.idealMakespan(processors: 8) == 2000)
        #expect(try Fixture.plan("chain", "{\(chains), \"work_ns\": 0}").idealMakespan(processors: 2) == nil)
        let independent = "{\"items\": 1000, \"items_per_operation\": 10, \"work_ns\": 100}"
        #expect(try Fixture.plan("independent", independent).idealMakespan(processors: 8) == 12_500)
        #expect(try Fixture.plan("priority_mix").idealMakespan(processors: 2) == nil)
    }
}
