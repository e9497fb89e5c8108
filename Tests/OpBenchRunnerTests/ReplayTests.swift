import Foundation
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchModel
@testable import OpBenchRunner

@Suite struct ReplayPlanTests {
    private func plan(_ more: String = "") throws -> WorkloadPlan {
        try Fixture.plan("replay", #"{"recording": \#(Fixture.recorded)\#(more)}"#)
    }

    private func instants(_ plan: WorkloadPlan) throws -> [Int64] {
        guard case .arrivals(let instants) = plan.pacing else { return [] }
        return instants
    }

    @Test func `the columns are the plan`() throws {
        let plan = try plan()
        #expect(plan.operationCount == 30)
        #expect(try instants(plan) == (0..<30).map { Int64($0) * 20_000 })
        #expect(plan.queueLimits == [2, nil] && plan.slots == nil)
        #expect([0, 14, 15, 29].map { plan.queueIndex(of: $0) } == [0, 0, 1, 1])
        #expect(plan.classes?.keys == ["very_low", "normal", "high"])
        #expect([0, 5, 27].map { plan.classValue(of: $0) } == [0, 4, -8])
        #expect([0, 12].map { plan.plannedNanoseconds(of: $0) } == [1000, 21_000])
        var edges: [[Int]] = []
        plan.forEachDependency { edges.append([$0, $1]) }
        #expect(edges == [[3, 2], [4, 0], [8, 10], [28, 20], [29, 28]])
        #expect([3, 8, 10, 29].map { plan.expectedMark(of: $0) } == [2, 2, 1, 3])
        let replay = try #require(plan.replay)
        #expect(replay.cancellations.map(\.operation) == [20] && replay.cancellations[0].instant == 401_000)
        #expect(plan.cancellation?.chosenCount == 1 && !replay.runsEveryBody)
    }

    @Test func `one limit is for every queue, and speed is of arrivals and cancellations alone`() throws {
        let plan = try plan(#", "limit": 3, "speed": 2"#)
        #expect(plan.queueLimits == [3, 3] && plan.slots == 6)
        #expect(try instants(plan).prefix(3) == [0, 10_000, 20_000])
        #expect(plan.replay?.cancellations.first?.instant == 200_500)
        #expect(plan.plannedNanoseconds(of: 12) == 21_000)
    }

    @Test func `one queue has its operations, and their dependencies on one another`() throws {
        let plan = try plan(#", "queue": 1, "priorities": "ignored""#)
        #expect(plan.operationCount == 15 && plan.queueLimits == [nil] && plan.classes == nil)
        #expect(try instants(plan).prefix(2) == [0, 20_000])
        var edges: [[Int]] = []
        plan.forEachDependency { edges.append([$0, $1]) }
        #expect(edges == [[13, 5], [14, 13]])
        #expect(plan.replay?.cancellations.map(\.operation) == [5])
    }

    @Test func `groups have their own figures, replayed and recorded, and percentiles of enough values`() throws {
        var plan = try plan()
        #expect(plan.groups == nil)
        var columns = RecordedLoad.Builder(limits: [nil], groupNames: ["A", "B b"])
        for number in 0..<10 {
            columns.add(
                gap: 1000, work: 100, wait: 0, queue: 0, priority: 0, group: number % 2,
                latency: number == 8 ? 0 : 1000 * (number + 1))
        }
        let load = columns.load
        let json =
            #"{"recording": {"gaps_ns": ["1000*10"], "cpu_ns": ["100*10"], "group": "#
            + #"[0, 1, 0, 1, 0, 1, 0, 1, 0, 1], "latency_ns": [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 0, 10000], "#
            + #""group_names": ["A", "B b"]}}"#
        plan = try Fixture.plan("replay", json)
        #expect(plan.groups?.keys == ["A", "B b"] && plan.replay?.latencies == load[.latencies])
        #expect(plan.shortened(to: 3).groups?.ofOperation == [0, 1, 0])
        var report = SampleReport()
        RoundAnalysis(plan: plan).report(rounds: 1, into: &report)
        func recorded(_ metric: Metric) -> [SampleReport.Figure] { report.figures.filter { $0.metric == metric.name } }
        #expect(recorded(.recordedLatency).map(\.operationClass) == ["", "group=A", "group=B b"])
        #expect(recorded(.recordedLatency).map(\.stat) == ["p50", "p50", "p50"])
        #expect(recorded(.recordedLatency).map { ($0.value / 1000).rounded() } == [5, 3, 6])
        // Operation i ends 2 i + 1 µs after the first arrival, and the last arrives after 9 µs.
        #expect(recorded(.recordedRate).map { ($0.value * 9e-6).rounded() } == [5, 3, 2])
        // What a program is called fits a name; the same name for several groups becomes several.
        let names = RecordedLoad.groupNames(["A", "A", "", "a\nb", String(repeating: "x", count: 999)])
        #expect(names.prefix(4) == ["A", "A (group 1)", " (group 2)", "a b"] && names[4].count < 200)
    }

    @Test func `a warm-up has the first operations, and no long body`() throws {
        let short = try plan().shortened(to: 9)
        #expect(short.operationCount == 9 && short.replay?.work.count == 9)
        var edges: [[Int]] = []
        short.forEachDependency { edges.append([$0, $1]) }
        #expect(edges == [[3, 2], [4, 0]])
        #expect(short.cancellation?.isChosen.count == 9)
    }

    @Test func `a load is equal to itself, read back`() throws {
        let cell = try Fixture.cell("replay", #"{"recording": \#(Fixture.recorded)}"#)
        let data = try JSONEncoder().encode(cell)
        #expect(try JSONDecoder().decode(Cell.self, from: data) == cell)
        let other = try Fixture.cell("replay", #"{"recording": {"gaps_ns": [0], "cpu_ns": [1]}}"#)
        #expect(other.parameters["recording"] != cell.parameters["recording"])
        #expect(cell.id.count < 40)
    }

    @Test(arguments: ["", " ", "1  2", "1*", "*2", "1*0", "1*02", "1*-2", "1 2 ", "+1", "1.5", "1*2*3", "1*99999999"])
    func `what is no packed text is refused`(_ text: String) {
        #expect(RecordedLoad.unpacked(text[...], limit: 1000) == nil)
    }

    @Test func `packed numbers are the numbers`() {
        let numbers = [0, 0, 0, -8, 5, 5, 1]
        #expect(RecordedLoad.packed(numbers) == ["0*3", "-8", "5*2", "1"])
        #expect(RecordedLoad.unpacked("0*3 -8 5*2 1", limit: 7) == numbers)
        #expect(RecordedLoad.unpacked("0*3 -8 5*2 1", limit: 6) == nil)
    }
}

@Suite(.onOwnThreads) struct ReplayTests {
    private static let plan = #"{"recording": \#(Fixture.recorded)}"#

    /// The marks of a round in which the cancelled operation 20 ran or not, changed at one place.
    private func violations(ofCancelled slot: UInt32, changing operation: Int = 0, to mark: UInt32? = nil) throws -> Int
    {
        let plan = try Fixture.plan("replay", Self.plan)
        var slots = (0..<plan.operationCount).map { plan.expectedMark(of: $0) }
        slots[20] = slot
        if let mark { slots[operation] = mark }
        return slots.withUnsafeBufferPointer { slots in
            withUnsafeTemporaryAllocation(of: Int64.self, capacity: 1) { stamps in
                stamps.initialize(repeating: 0)
                let traces = RoundTraces(
                    slots: slots.baseAddress!, stamps: UnsafePointer(stamps.baseAddress!),
                    operationCount: plan.operationCount, hasStamps: false)
                return plan.violations(of: traces).count
            }
        }
    }

    @Test func `an operation that is to be cancelled may run or not, and others run once, in order`() throws {
        let cancelled = RoundTraces.cancelledMark
        #expect(try violations(ofCancelled: 1) == 0)
        #expect(try violations(ofCancelled: cancelled) == 0)
        #expect(try violations(ofCancelled: cancelled + 1) == 0)
        // Its successors count what it left.
        #expect(try violations(ofCancelled: cancelled, changing: 28, to: cancelled + 1) == 0)
        #expect(try violations(ofCancelled: cancelled, changing: 28, to: 1) == 0)
        #expect(try violations(ofCancelled: 0) == 1)
        #expect(try violations(ofCancelled: 2) == 1)
        #expect(try violations(ofCancelled: 1, changing: 5, to: 0) == 1)
        #expect(try violations(ofCancelled: 1, changing: 5, to: 2) == 1)
        #expect(try violations(ofCancelled: 1, changing: 3, to: 1) == 1)
        #expect(try violations(ofCancelled: 1, changing: 5, to: cancelled + 1) == 1)
    }

    @Test func `cancelling calls come between the arrivals`() throws {
        let clock = ManualClock()
        let backend = CallingBackend(clock)
        let plan = try Fixture.plan(
            "replay",
            #"""
            {"recording": {"gaps_ns": ["0 1000*3"], "cpu_ns": ["0*4"], "cancellation_steps": [0, 1, 2],
             "cancellation_delays_ns": [1500, 0, 70]}}
            """#)
        _ = Pacer(plan: plan, clock: clock.pace).submit(to: backend)
        #expect(
            backend.calls == [
                "0 at 0", "1 at 1000", "cancel 1 at 1000", "cancel 0 at 1500", "2 at 2000", "3 at 3000",
                "cancel 3 at 3070",
            ])
    }

    @Test func `priorities are not for every backend`() throws {
        func isSupported(_ factory: BackendFactory, _ more: String = "") throws -> Bool {
            let plan = try Fixture.plan("replay", #"{"recording": \#(Fixture.recorded)\#(more)}"#)
            guard case .full = factory.supports(plan) else { return false }
            return true
        }
        for factory in [EngineBackend.factory, FoundationBackend.factory] { #expect(try isSupported(factory)) }
        for factory in [DispatchBackend.factory, ConcurrencyBackend.factory] {
            #expect(try !isSupported(factory))
            #expect(try isSupported(factory, #", "priorities": "ignored""#))
        }
        #expect(try isSupported(ConcurrencyBackend.factory, #", "limit": 1"#))
        #expect(try !isSupported(SerialBackend.factory, #", "priorities": "ignored""#))
    }
}

/// Records which operations were submitted and cancelled, and when.
private final class CallingBackend: RoundBackend, @unchecked Sendable {
    private(set) var calls: [String] = []
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func submit(_ part: Range<Int>) { calls.append("\(part.lowerBound) at \(clock.now)") }
    func cancel(_ part: Range<Int>) { calls.append("cancel \(part.lowerBound) at \(clock.now)") }
    func drain() {}
}
