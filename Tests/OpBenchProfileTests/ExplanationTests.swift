import OpBenchModel
import Testing

@testable import OpBenchProfile

@Suite("Explanation of a difference")
struct ExplanationTests {
    private static func frame(_ name: String, _ object: String = "/b/opbench") -> StackFrame {
        StackFrame(name: name, object: object)
    }

    private static let root = frame("start_thread", "/lib/libc.so.6")
    private static let engine = frame("OperationEngine.QueueCore.add()")
    private static let other = frame("OperationEngine.Runner.serve()")
    private static let body = frame("OpBenchBackends.OperationBody.run()")
    private static let malloc = frame("malloc", "/lib/libjemalloc.so.2")
    private static let futex = frame("syscall", "/lib/libc.so.6")
    private static let kernel = frame("do_futex", "[kernel.kallsyms]")

    private func profile(_ stacks: [([StackFrame], Int64)], _ unit: WeightUnit = .nanoseconds) -> StackProfile {
        var profile = StackProfile(unit: unit)
        for (stack, weight) in stacks { profile.add([Self.root] + stack, weight: weight) }
        return profile
    }

    @Test("What a function has others do is its own doing")
    func attribution() {
        let weights = AttributedWeights(
            profile([
                ([Self.engine], 10), ([Self.engine, Self.malloc], 20), ([Self.engine, Self.futex, Self.kernel], 30),
                ([Self.engine, Self.body, Self.malloc], 5), ([Self.malloc], 7), ([], 3),
            ]))
        #expect(weights.functions[Self.engine.name]?.parts == [.engine: 10, .allocation: 20, .kernel: 30])
        #expect(weights.functions[Self.body.name]?.parts == [.allocation: 5])
        #expect(weights.functions[AttributedWeights.nobody]?.total == 10)
        #expect(weights.functions.values.reduce(0) { $0 + $1.total } == 75)
    }

    @Test("A lock answers for nothing: who takes it does, however often its function was compiled")
    func primitives() {
        let lock = Self.frame("OperationEngine.FutexLock.lockContended() -> ()")
        let wake = Self.frame("static OperationEngine.Futex.wake(A, count: Swift.Int32) -> ()")
        let special = Self.frame("generic specialization <A> of \(Self.engine.name)")
        let weights = AttributedWeights(
            profile([
                ([Self.engine, lock], 10), ([special, lock, Self.futex, Self.kernel], 20), ([special, wake], 5),
                ([lock], 1),
            ]))
        #expect(weights.functions[Self.engine.name]?.parts == [.futex: 15, .kernel: 20])
        #expect(weights.functions[AttributedWeights.nobody]?.parts == [.futex: 1])
        #expect(weights.functions.count == 2)
    }

    @Test("Who makes an object or lets an array grow answers for it, not the code that is there for it")
    func means() {
        let object = Self.frame("OperationEngine.Details.__allocating_init() -> OperationEngine.Details")
        let growth = StackFrame(
            name: "generic specialization <OperationEngine.Operation> of Swift.Array.append(__owned A) -> ()",
            symbol: "$sSa6appendyyxnF15OperationEngine0A0C_Tg5", object: "/b/opbench")
        let weights = AttributedWeights(
            profile(
                [([Self.engine, object, Self.malloc], 2), ([Self.engine, growth, growth, Self.malloc], 3)], .allocations
            ))
        #expect(weights.functions.mapValues { $0.total } == [Self.engine.name: 5])
        let shim = AttributedWeights(profile([([Self.engine, Self.frame("clinux_thread_state"), Self.kernel], 4)]))
        #expect(shim.functions.mapValues { $0.total } == [Self.engine.name: 4])
    }

    @Test("A change of three and three values has the range of all nine differences")
    func change() {
        let change = Change("x", base: [10, 12, 11], head: [20, 25, 21])
        #expect(change.base == 11)
        #expect(change.head == 21)
        #expect(change.difference == 10)
        #expect(change.interval == 8...15)
        #expect(change.isClear)
        #expect(!Change("x", base: [10, 12], head: [11, 13]).isClear)
        #expect(Change("x", base: [1], head: [4]).interval == 3...3)
    }

    private func sample(_ time: Double, allocations: Int64, serve: Int64) -> ExplainedSample {
        var sample = ExplainedSample(time: time, cpuTime: 2 * time)
        let stacks: [([StackFrame], Int64)] = [
            ([Self.engine], 400), ([Self.engine, Self.malloc], 20 * allocations), ([Self.other], serve),
        ]
        sample.cpu = .init(profile(stacks), operations: 10)
        sample.allocations = .init(profile([([Self.engine, Self.malloc], allocations)], .allocations), operations: 10)
        sample.counts = [.futexCalls: 0.5]
        return sample
    }

    @Test("The function that changed most stands first, with what it called, and the rest is unexplained")
    func ranking() throws {
        let base = [100.0, 102, 101].map { sample($0, allocations: 10, serve: 100 + Int64($0)) }
        let head = [110.0, 112, 111].map { sample($0, allocations: 20, serve: 73 + Int64($0)) }
        let explanation = Explanation(base: base, head: head)
        #expect(explanation.time.difference == 10)
        #expect(explanation.cpuTime.difference == 20)
        let cpu = try #require(explanation.cpu)
        #expect(cpu.functions.first?.change.name == Self.engine.name)
        #expect(cpu.functions.first?.change.difference == 20)
        #expect(cpu.functions.first?.parts.map(\.frameClass) == [.allocation])
        let rest = try #require(cpu.functions.dropFirst().first)
        #expect(rest.change.name == Self.other.name)
        #expect(cpu.unexplained == 20 - 20 - rest.change.difference)
        #expect(explanation.instructions == nil)
        #expect(explanation.allocations.map(\.name) == [Self.engine.name])
        #expect(explanation.allocations.first?.difference == 1)
        #expect(explanation.counts.map(\.difference) == [0])
        #expect(abs(rest.change.difference + 1.7) < 1e-9)
        let text = explanation.lines().joined(separator: "\n")
        #expect(text.contains("unexplained: "))
        #expect(text.contains("  QueueCore.add(): "))
        #expect(text.contains("allocations by QueueCore.add(): "))
        let markdown = explanation.markdown { $0 }
        #expect(markdown.contains("| unexplained |"))
        #expect(markdown.contains("| OperationEngine.QueueCore.add() |"))
    }

    @Test("What changed for certain and by little is left to the rest")
    func little() {
        let base = [100.0, 102, 101].map { sample($0, allocations: 10, serve: 100) }
        let head = [110.0, 112, 111].map { sample($0, allocations: 20, serve: 109) }
        let explanation = Explanation(base: base, head: head)
        #expect(explanation.cpu?.functions.map(\.change.name) == [Self.engine.name])
        #expect(explanation.cpu?.unexplained == 0)
    }

    @Test("A function that is only noise is not named")
    func noise() {
        let base = [100.0, 102, 101].map { sample($0, allocations: 10, serve: Int64($0)) }
        let head = [101.0, 100, 102].map { sample($0, allocations: 10, serve: Int64($0)) }
        let explanation = Explanation(base: base, head: head)
        #expect(explanation.cpu?.functions.isEmpty == true)
        #expect(explanation.allocations.isEmpty)
        #expect(explanation.cpu?.unexplained == explanation.cpuTime.difference)
    }

    @Test("An improvement is ranked by what got better")
    func improvement() {
        let base = [110.0, 112, 111].map { sample($0, allocations: 20, serve: 200) }
        let head = [100.0, 102, 101].map { sample($0, allocations: 10, serve: 230) }
        let explanation = Explanation(base: base, head: head)
        #expect(explanation.cpu?.functions.map(\.change.name) == [Self.engine.name, Self.other.name])
        #expect(explanation.cpu?.functions.map(\.change.difference) == [-20, 3])
    }

    /// 10 operations; what the engine and its malloc execute, and the other function.
    private func counted(_ engine: Int64, malloc: Int64, other: Int64, little: Int64 = 0) -> ExplainedSample {
        var sample = sample(100, allocations: 10, serve: 100)
        let stacks: [([StackFrame], Int64)] = [
            ([Self.engine], engine), ([Self.engine, Self.malloc], malloc), ([Self.other], other),
            ([Self.body], little),
        ]
        sample.instructions = .init(profile(stacks, .instructions), operations: 10)
        return sample
    }

    @Test("Instructions are ranked by function as CPU time is, with a total and a rest of their own")
    func instructions() throws {
        let base = [1000, 1002, 1001].map { counted(5000, malloc: 0, other: $0) }
        let head = [1003, 1000, 1001].map { counted(5100, malloc: 900, other: $0) }
        let explanation = Explanation(base: base, head: head)
        let ranking = try #require(explanation.instructions)
        #expect(ranking.total.name == "instructions")
        #expect(ranking.total.base == 600.1)
        #expect(abs(ranking.total.difference - 100) < 1e-9)
        #expect(ranking.functions.map(\.change.name) == [Self.engine.name])
        #expect(ranking.functions.first?.change.interval == 100...100)
        #expect(ranking.functions.first?.parts.map(\.frameClass) == [.allocation, .engine])
        #expect(abs(ranking.unexplained) < 1e-9)
        let lines = explanation.lines()
        #expect(lines.contains("instructions: 600 → 700 an operation, +100 (+99.8 … +100)"), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("of the instructions, by function ") })
        #expect(lines.contains("  QueueCore.add(): 500 → 600 an operation, +100 (+100 … +100)"), "\(lines)")
        #expect(lines.contains("    allocation +90, engine +10"), "\(lines)")
        let markdown = explanation.markdown { $0 }.split(separator: "\n").map(String.init)
        #expect(markdown.contains("| instructions | 600 | 700 | +100 | +99.8 … +100 |"), "\(markdown)")
        #expect(markdown.contains("| instructions, \(Self.engine.name) | 500 | 600 | +100 | +100 … +100 |"))
        #expect(markdown.contains { $0.hasPrefix("| instructions, unexplained |") })
    }

    @Test("Counts repeat, so that a function differs for certain by a hair; it is not named")
    func hair() {
        let base = [1000, 1000].map { counted(5000, malloc: 0, other: $0, little: 10) }
        let head = [1000, 1000].map { counted(5000, malloc: 0, other: $0, little: 12) }
        let ranking = Explanation(base: base, head: head).instructions
        #expect(ranking?.functions.isEmpty == true)
        #expect(ranking?.unexplained == ranking?.total.difference)
        #expect(ranking?.unexplained != 0)
    }

    @Test("Without counts of every turn there is no table of them")
    func withoutCounts() {
        let base = [counted(5000, malloc: 0, other: 1), sample(100, allocations: 10, serve: 100)]
        let explanation = Explanation(base: base, head: [1, 1].map { counted(5000, malloc: 900, other: $0) })
        #expect(explanation.instructions == nil)
        #expect(!explanation.lines().contains { $0.contains("instructions") })
        #expect(!explanation.markdown { $0 }.contains("instructions"))
    }
}
