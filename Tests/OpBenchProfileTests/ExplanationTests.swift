import OpBenchAnalysis
import OpBenchModel
import TestSupport
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

    @Test("A function includes its calls into the kernel and the allocator")
    func attribution() {
        let weights = AttributedWeights(
            profile([
                ([Self.engine], 10), ([Self.engine, Self.malloc], 20), ([Self.engine, Self.futex, Self.kernel], 30),
                ([Self.engine, Self.body, Self.malloc], 5), ([Self.malloc], 7), ([], 3),
            ]), on: .engine)
        #expect(weights.functions[Self.engine.name]?.parts == [.queue("engine"): 10, .allocation: 20, .kernel: 30])
        #expect(weights.functions[Self.body.name]?.parts == [.allocation: 5])
        #expect(weights.functions[AttributedWeights.nobody]?.total == 10)
        #expect(weights.functions.values.reduce(0) { $0 + $1.total } == 75)
    }

    @Test("A lock's time belongs to its caller, however often the caller was compiled")
    func primitives() {
        let lock = Self.frame("OperationEngine.FutexLock.lockContended() -> ()")
        let wake = Self.frame("static OperationEngine.Futex.wake(A, count: Swift.Int32) -> ()")
        let closure = Self.frame("closure #1 (A) -> Swift.Int in \(wake.name)")
        let special = Self.frame("generic specialization <A> of \(Self.engine.name)")
        let weights = AttributedWeights(
            profile([
                ([Self.engine, lock], 10), ([special, lock, Self.futex, Self.kernel], 20),
                ([special, wake, closure], 5),
                ([lock], 1),
            ]), on: .engine)
        #expect(weights.functions[Self.engine.name]?.parts == [.futex: 15, .kernel: 20])
        #expect(weights.functions[AttributedWeights.nobody]?.parts == [.futex: 1])
        #expect(weights.functions.count == 2)
    }

    @Test("Creating an object or growing an array belongs to the caller, not to the standard library's code")
    func means() {
        let object = Self.frame("OperationEngine.Details.__allocating_init() -> OperationEngine.Details")
        let growth = StackFrame(
            name: "generic specialization <OperationEngine.Operation> of Swift.Array.append(__owned A) -> ()",
            symbol: "$sSa6appendyyxnF15OperationEngine0A0C_Tg5", object: "/b/opbench")
        let weights = AttributedWeights(
            profile(
                [([Self.engine, object, Self.malloc], 2), ([Self.engine, growth, growth, Self.malloc], 3)], .allocations
            ), on: .engine)
        #expect(weights.functions.mapValues { $0.total } == [Self.engine.name: 5])
        let shim = AttributedWeights(
            profile([([Self.engine, Self.frame("clinux_thread_state"), Self.kernel], 4)]), on: .engine)
        #expect(shim.functions.mapValues { $0.total } == [Self.engine.name: 4])
    }

    /// The statistics of verdicts, and the range of all differences.
    private static let test = ChanceTest(
        probability: { mannWhitneyTest($0, $1) ?? 1 },
        shift: { base, head in
            let differences = head.flatMap { head in base.map { head - $0 } }
            let range = (differences.min() ?? 0)...(differences.max() ?? 0)
            return (hodgesLehmannShift(from: base, to: head) ?? 0, range)
        }, adjusted: holmAdjusted)

    private func change(_ base: [Double], _ head: [Double]) -> Change {
        Change("x", base: base, head: head, by: Self.test)
    }

    @Test("A change has the probability of its ranks, and is certain if it is also large enough to name")
    func change() {
        let change = change([10, 12, 11, 13, 14, 15, 16], [20, 22, 21, 23, 24, 25, 26])
        #expect((change.base, change.head, change.difference) == (13, 23, 10))
        #expect(change.interval == 4...16)
        // Two of the C(14, 7) orders.
        #expect(abs(change.probability - 2.0 / 3432) < 1e-12)
        #expect(change.isSure)
        #expect(!change.isSure(of: 10.5))
        // However large the difference is.
        #expect(!self.change([10, 12, 11], [200, 202, 201]).isSure)
        #expect(!self.change((0..<7).map { 1000 + Double($0) }, (0..<7).map { 1010 + Double($0) }).isSure)
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

    /// Seven turns, whose times increase by a nanosecond per turn, and the other function's by a tenth.
    private func side(_ time: Double, allocations: Int64, serve: Int64) -> [ExplainedSample] {
        (0..<7).map { sample(time + Double($0), allocations: allocations, serve: serve + $0) }
    }

    private func explanation(
        _ base: [ExplainedSample], _ head: [ExplainedSample], on backends: ExplainedBackends = .init(.engine)
    ) -> Explanation {
        Explanation(base: base, head: head, on: backends, by: Self.test)
    }

    @Test("The function that changed most is first, with its calls, and the rest is unexplained")
    func ranking() throws {
        let explanation = explanation(
            side(100, allocations: 10, serve: 300), side(110, allocations: 20, serve: 240))
        #expect(explanation.time.difference == 10)
        #expect(explanation.cpuTime.difference == 20)
        let cpu = try #require(explanation.cpu)
        #expect(cpu.functions.map(\.change.name) == [Self.engine.name, Self.other.name])
        #expect(cpu.functions.map(\.change.difference) == [20, -6])
        #expect(cpu.functions.first?.parts.map(\.frameClass) == [.allocation])
        #expect((cpu.unnamed, cpu.unsampled) == (0, 6))
        #expect(cpu.classes.map(\.name) == [FrameClass.allocation.words, "engine"])
        #expect(cpu.classes.map(\.difference) == [20, -6])
        #expect(explanation.allocations.map(\.name) == [Self.engine.name])
        #expect(explanation.allocations.first?.difference == 1)
        // They did not change.
        #expect(explanation.counts == [])
        expectGolden(explanation, "a function that changed")
    }

    private func expectGolden(_ explanation: Explanation, measured: [MeasuredChange] = [], _ section: String) {
        let lines = explanation.lines(measured: measured).joined(separator: "\n")
        Golden("explanation").expect("\(lines)\n\n\(explanation.markdown(measured: measured))", section)
    }

    @Test("Between two backends, a function or class that only one of them has is 0 on the other side")
    func backends() throws {
        let push = Self.frame("_dispatch_root_queue_push", "/lib/libdispatch.so")
        func side(_ time: Int64, _ own: StackFrame, kernel: Int64) -> [ExplainedSample] {
            (0..<7).map { (turn: Int64) in
                var sample = ExplainedSample(time: Double(time + turn), cpuTime: Double(time + turn))
                let stacks: [([StackFrame], Int64)] = [
                    ([own], 10 * time - kernel), ([own, Self.futex, Self.kernel], kernel), ([Self.body], 50 + turn),
                ]
                sample.cpu = .init(profile(stacks), operations: 10)
                return sample
            }
        }
        let explanation = explanation(
            side(100, Self.engine, kernel: 100), side(200, push, kernel: 900),
            on: ExplainedBackends(base: .engine, head: BackendID(rawValue: "dispatch:notify")))
        let cpu = try #require(explanation.cpu)
        #expect(cpu.functions.map(\.change.name) == [push.name, Self.engine.name])
        #expect(cpu.functions.map(\.change.base) == [0, 100] && cpu.functions.map(\.change.head) == [200, 0])
        #expect(cpu.functions.first?.parts.map(\.frameClass) == [.queue("dispatch"), .kernel])
        #expect(cpu.classes.map(\.name) == ["dispatch", "kernel", "engine"])
        #expect(cpu.classes.map(\.difference) == [110, 80, -90])
        #expect(explanation.backends.title(of: "c") == "c: engine → dispatch:notify")
        expectGolden(explanation, "two backends")
    }

    @Test("Certain changes below 2 % of the base's CPU time are part of the rest")
    func little() {
        let explanation = explanation(
            side(100, allocations: 10, serve: 300), side(110, allocations: 20, serve: 340))
        #expect(explanation.cpu?.functions.map(\.change.name) == [Self.engine.name])
        #expect(explanation.cpu.map { [$0.unnamed, $0.unsampled] } == [4, -4])
    }

    @Test("If neither time nor CPU time changed, nothing is named, and the first line says so")
    func unclear() {
        let explanation = explanation(
            side(100, allocations: 10, serve: 300), side(100, allocations: 10, serve: 500))
        #expect(explanation.cpu?.functions.isEmpty == true)
        #expect(explanation.allocations.isEmpty && explanation.waits.isEmpty && explanation.counts.isEmpty)
        #expect(explanation.cpu.map { [$0.unnamed, $0.unsampled] } == [20, -20])
        expectGolden(explanation, "no change")
    }

    @Test("Of forty functions that differ only by chance hardly ever one is named, whatever the total does")
    func chance() {
        var generator = SplitMix64(seed: 21)
        let names = (0..<40).map { Self.frame("OperationEngine.Function\($0).run()") }
        func side(_ time: Double) -> [ExplainedSample] {
            (0..<7).map { turn in
                var sample = ExplainedSample(time: time + Double(turn), cpuTime: time + Double(turn))
                sample.cpu = .init(
                    profile(names.map { ([$0], 5 + Int64(generator.next() % 100)) }), operations: 10)
                return sample
            }
        }
        let tries = 20
        let named = (0..<tries).count { _ in
            explanation(side(100), side(120)).cpu?.functions.isEmpty == false
        }
        #expect(Double(named) <= ChanceTest.alpha * Double(tries))
    }

    @Test("An improvement is ranked by the parts that improved")
    func improvement() {
        let explanation = explanation(
            side(110, allocations: 20, serve: 200), side(100, allocations: 10, serve: 250))
        #expect(explanation.cpu?.functions.map(\.change.name) == [Self.engine.name, Self.other.name])
        #expect(explanation.cpu?.functions.map(\.change.difference) == [-20, 5])
    }

    @Test("If the time changed and the CPU time did not, waits are first")
    func waiting() throws {
        func side(_ time: Double, wakeUp: Int64, allocations: Int64) -> [ExplainedSample] {
            (0..<7).map { turn in
                var sample = sample(time + Double(turn), allocations: allocations, serve: 300)
                sample.cpuTime = 200 + Double(turn)
                var split = WaitSplit()
                (split[.wakeUp], split[.limit]) = (wakeUp + Int64(turn), 5000 + Int64(turn))
                sample.waits = (split: split, operations: 10)
                return sample
            }
        }
        let explanation = explanation(
            side(100, wakeUp: 1000, allocations: 10), side(130, wakeUp: 1300, allocations: 11))
        #expect(explanation.waits.map(\.name) == [WaitReason.wakeUp.words])
        #expect(explanation.waits.first?.difference == 30)
        #expect(explanation.cpu?.functions.isEmpty == true)
        expectGolden(explanation, "waits that changed, and not the CPU time")
        // The same waits, with an unchanged time.
        let same = self.explanation(
            side(100, wakeUp: 1000, allocations: 10), side(100, wakeUp: 1300, allocations: 10))
        #expect(same.waits == [])
    }

    /// The slowest operations of seven turns: they wait for a limit, mostly because of the given culprits.
    private func tails(limit: Int64, culprits: [String]) -> [[Tail]] {
        culprits.enumerated().map { turn, culprit in
            let (limit, body) = (10 * (limit + Int64(turn)), Int64(1000 + turn))
            let spread = Spread(p50: 100, p90: 100, p99: limit, max: limit)
            return [
                Tail(
                    name: "high", operations: 1000, rate: 1e6, latency: spread, wait: spread, body: spread, slow: 10,
                    slowLatency: limit + body,
                    reasons: [NamedTime(WaitReason.limit.words, limit), NamedTime(Tails.body, body)],
                    culprits: [NamedTime(culprit, limit)])
            ]
        }
    }

    /// - Parameter time: of the head, in nanoseconds per operation; the base takes 100.
    private func explanation(_ base: [[Tail]], _ head: [[Tail]], time: Int64 = 100) -> Explanation {
        func side(_ tails: [[Tail]], _ time: Int64) -> [ExplainedSample] {
            zip(self.side(Double(time), allocations: 10, serve: 300 + 20 * (time - 100)), tails).map { sample, tails in
                var sample = sample
                sample.tails = tails
                return sample
            }
        }
        return explanation(side(base, 100), side(head, time))
    }

    @Test("The slowest operations have the reason that grew, and the culprit that most turns have in common")
    func slowest() throws {
        let usual = tails(limit: 5000, culprits: Array("abcdefg").map(String.init))
        let (limit, other) = ("the limit 2 of high", "no processor was free")
        let slow = tails(limit: 90_000, culprits: [limit, limit, other, limit, limit, other, limit])
        let explanation = explanation(usual, slow)
        let tail = try #require(explanation.tails.first)
        #expect(explanation.tails.count == 1)
        #expect(tail.name == "high" && abs(tail.latency.difference - 85_000) < 1e-6)
        #expect(tail.reasons.map(\.name) == [WaitReason.limit.words])
        #expect(tail.culprit == .init(name: limit, delay: 90_003, turns: 5, allTurns: 7))
        expectGolden(explanation, "only the slowest operations")
        // Functions come first if the CPU time changed.
        expectGolden(self.explanation(usual, slow, time: 120), "functions, then the slowest operations")
        // On the side with the longer latency; another one in each turn does not count.
        let reversed = self.explanation(slow, usual)
        #expect(reversed.tails.first?.latency.difference ?? 0 < -80_000)
        #expect(reversed.tails.first?.culprit == tail.culprit)
        let none = self.explanation(usual, tails(limit: 90_000, culprits: Array("abcdefg").map(String.init)))
        #expect(none.tails.first?.culprit == nil && none.tails.count == 1)
        #expect(self.explanation(usual, usual).tails.isEmpty)
    }

    @Test("Time and CPU time of the run are before those of the turns")
    func measured() throws {
        let explanation = explanation(
            side(100, allocations: 10, serve: 300), side(110, allocations: 20, serve: 300))
        let measured = [
            MeasuredChange(name: "time", base: 100, head: 110, ratio: 1.1, interval: 1.08...1.12),
            MeasuredChange(name: "CPU time", base: 200, head: 190, ratio: 0.95, interval: nil),
        ]
        expectGolden(explanation, measured: measured, "with the run's own time and CPU time")
    }
}
