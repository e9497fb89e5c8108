import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite struct CancellationPlanTests {
    private func plan(_ parameters: String) throws -> WorkloadPlan { try Fixture.plan("cancel_storm", parameters) }

    @Test(arguments: [0, 1, 37, 50, 99, 100]) func `exactly the given part is chosen`(_ percent: Int) throws {
        let plan = try plan(#"{"operations": 400, "cancelled_percent": \#(percent)}"#)
        #expect(plan.cancellation?.chosenCount == 4 * percent)
        #expect(plan.cancellation?.isChosen.count == 400)
    }

    @Test func `the seed chooses, and the choice is spread`() throws {
        let parameters = { (seed: Int) in #"{"operations": 400, "seed": \#(seed)}"# }
        #expect(try plan(parameters(3)).cancellation == plan(parameters(3)).cancellation)
        #expect(try plan(parameters(3)).cancellation != plan(parameters(4)).cancellation)
        let firstHalf = try #require(plan(parameters(3)).cancellation).isChosen.prefix(200).count { $0 }
        #expect((70...130).contains(firstHalf))
    }

    @Test func `one call for all chooses all`() throws {
        let plan = try plan(#"{"operations": 400, "call": "all", "cancelled_percent": 10, "enqueue": "live"}"#)
        #expect(plan.cancellation?.chosenCount == 400)
        #expect(plan.cancellation?.isBeforeRelease == false)
        #expect(!plan.startsSuspended)
    }

    @Test func `a warm-up has a choice for each of its operations`() throws {
        let short = try plan(#"{"operations": 400}"#).shortened(to: 30)
        #expect(short.operationCount == 30)
        #expect(short.cancellation?.isChosen.count == 30)
    }
}

@Suite(.serialized, .onOwnThreads) struct CancellationTests {
    @Test func `the time of the cancelling calls is a separate phase, per chosen operation`() throws {
        let report = try Trial(
            plan: Fixture.plan("cancel_storm", #"{"operations": 50, "cancelled_percent": 40, "work_ns": 0}"#),
            factory: EngineBackend.factory, flavour: .throughput, kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
        func time(_ phase: String) throws -> SampleReport.Figure {
            try #require(report.figures.first { $0.metric == "time" && $0.phase == phase })
        }
        let rounds = try #require(report.figures.first { $0.metric == "rounds" }).value
        #expect(try time("cancel").operations == 20 * Int(rounds))
        let parts = try time("build").value + time("submit").value + time("cancel").value + time("drain").value
        #expect(abs(parts - (try time("total").value)) < 1e-9)
    }

    @Test func `latencies are those of the operations that ran`() throws {
        let report = try Trial(
            plan: Fixture.plan("cancel_storm", #"{"operations": 50, "cancelled_percent": 40, "work_ns": 0}"#),
            factory: EngineBackend.factory, flavour: .latency, kernel: Fixture.kernel, targetNanoseconds: 1
        ).run()
        let rounds = try #require(report.figures.first { $0.metric == "rounds" }).value
        let starts = try #require(report.histograms.first { $0.stage == "start" })
        #expect(starts.counts.reduce(0, +) == 30 * Int64(rounds))
    }
}

/// Shows that the check can fail.
@Suite(.serialized, .onOwnThreads) struct BrokenCancellationTests {
    private func report(_ defect: ScriptedCancelling.Defect, _ parameters: String) throws -> SampleReport {
        let factory = BackendFactory(
            id: BackendID(rawValue: "scripted"), guarantees: [], support: { _ in .full() },
            canHoldPending: { _ in true }, make: { ScriptedCancelling($0, $1, defect) })
        return Trial(
            plan: try Fixture.plan("cancel_storm", parameters), factory: factory, flavour: .throughput,
            kernel: Fixture.kernel, targetNanoseconds: 1000
        ).run()
    }

    private static let waiting = #"{"operations": 20, "work_ns": 0}"#
    private static let live = #"{"operations": 20, "enqueue": "live", "work_ns": 0}"#

    @Test(arguments: [waiting, live]) func `a sound backend passes`(_ parameters: String) throws {
        #expect(try report(.none, parameters).status == .ok)
    }

    @Test func `a wrong ending is detected`() throws {
        let reports = try [ScriptedCancelling.Defect.losesCancelled, .cancelsTwice, .runsCancelled, .cancelsUnasked]
            .map { try report($0, Self.waiting) }
        #expect(reports.allSatisfy { $0.status == .invalid })
        Golden("cancellation-violations").expect(reports.map(\.notes).joined(separator: "\n"), "wrong endings")
    }

    @Test func `in a running queue an operation may begin before it is cancelled, but must not run twice`() throws {
        #expect(try report(.runsCancelled, Self.live).status == .ok)
        #expect(try report(.cancelsTwice, Self.live).status == .invalid)
    }
}

/// Ends every operation on the draining thread, one of them wrongly.
final class ScriptedCancelling: RoundBackend, @unchecked Sendable {
    enum Defect: Sendable {
        case none, losesCancelled, cancelsTwice, runsCancelled, cancelsUnasked
    }

    private let plan: WorkloadPlan
    private let body: OperationBody
    private let defect: Defect
    private var cancelled: [Int] = []

    init(_ plan: WorkloadPlan, _ body: OperationBody, _ defect: Defect) {
        self.plan = plan
        self.body = body
        self.defect = defect
    }

    func build() {}
    func submit(_ part: Range<Int>) {}
    func release() {}

    func cancel(_ part: Range<Int>) { cancelled = part.filter { plan.cancellation?.isChosen[$0] ?? false } }

    func drain() {
        let chosen = Set(cancelled)
        for operation in 0..<plan.operationCount where !chosen.contains(operation) { body.run(operation) }
        if defect == .runsCancelled, let first = cancelled.first { body.run(first) }
    }

    func attest() {
        for operation in cancelled.dropFirst(defect == .losesCancelled ? 1 : 0) { body.didEndCancelled(operation) }
        if defect == .cancelsTwice, let first = cancelled.first { body.didEndCancelled(first) }
        let chosen = Set(cancelled)
        if defect == .cancelsUnasked, let other = (0..<plan.operationCount).first(where: { !chosen.contains($0) }) {
            body.didEndCancelled(other)
        }
    }

    func teardown() {}
    func suspend() {}
    func resume() {}
}
