import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

/// One stall in a run, computed by hand: the figures that the open loop must report, and a closed one cannot.
@Suite(.onOwnThreads) struct CoordinatedOmissionTests {
    /// 1 s of arrivals every 0.5 ms; the queue, one operation at a time of 10 µs, stalls for 100 ms in the middle.
    private static let stall: Int64 = 100_000_000
    private static let work: Int64 = 10_000
    private let plan: WorkloadPlan
    private let instants: [Int64]

    init() throws {
        plan = try Fixture.plan("open_loop", #"{"rate": 2000, "duration_ns": 1000000000, "arrivals": "constant"}"#)
        instants = (0..<2000).map { Int64($0) * 500_000 }
    }

    /// Fills in the stamps of a queue that runs its operations one at a time, and reports them.
    private func figures(
        of plan: WorkloadPlan, submitted: (_ operation: Int, _ lastEnd: Int64) -> Int64, stalledOperation: Int?
    ) -> (String, String) -> Double? {
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .stamped)
        defer { body.deallocate() }
        var lastEnd: Int64 = 0
        for operation in 0..<plan.operationCount {
            let submit = submitted(operation, lastEnd)
            let start = max(submit, lastEnd)
            lastEnd = start + Self.work + (operation == stalledOperation ? Self.stall : 0)
            for (kind, value) in [
                (OperationBody.Stamp.submit, submit), (.submitted, submit), (.start, start), (.end, lastEnd),
            ] { body.stamp(kind, operation, value) }
        }
        var analysis = RoundAnalysis(plan: plan)
        analysis.add(Round(), body)
        var report = SampleReport()
        analysis.report(rounds: 1, into: &report)
        return { metric, stat in report.figures.first { $0.metric == metric && $0.stat == stat }?.value }
    }

    @Test func `a stalled operation changes the percentiles as theory predicts`() throws {
        let figure = figures(of: plan, submitted: { operation, _ in instants[operation] }, stalledOperation: 1000)
        // An operation that arrives t after the start of the stall waits for its rest: of 2000 operations, 200 wait
        // between 0 and 100 ms, evenly distributed. One in a hundred waits longer than stall − 1 s ÷ 100, one in a
        // thousand longer than stall − 1 s ÷ 1000. Delayed operations add their own work, 10 µs each.
        let p99 = try #require(figure("intended_latency", "p99"))
        let p999 = try #require(figure("intended_latency", "p99.9"))
        #expect((89_900_000...90_600_000).contains(p99), "\(p99)")
        #expect((98_900_000...99_700_000).contains(p999), "\(p999)")
        #expect(try #require(figure("intended_latency", "p50")) < 11_000)
        // The submitting thread was never delayed, so both views agree.
        #expect(figure("service_latency", "p99") == p99)
    }

    @Test func `a stalled submitter changes only the intended latency`() throws {
        let stallEnd = instants[1000] + Self.stall
        let figure = figures(
            of: plan,
            submitted: { operation, _ in operation < 1000 ? instants[operation] : max(instants[operation], stallEnd) },
            stalledOperation: nil)
        let p99 = try #require(figure("intended_latency", "p99"))
        #expect((89_900_000...90_600_000).contains(p99), "\(p99)")
        #expect((89_900_000...90_600_000).contains(try #require(figure("submit_lag", "p99"))))
        // From the submitting call on, only the 200 that were submitted together are late.
        #expect(try #require(figure("service_latency", "max")) < 2_100_000)
    }

    /// Pollaczek and Khinchine: with one server, Poisson arrivals and a constant service time, the mean time to the end is
    /// service + load · service ÷ (2 · (1 − load)).
    @Test func `the mean of Poisson arrivals on one slot is that of queueing theory`() throws {
        let load = 0.5
        let rate = Int(load * 1e9 / Double(Self.work))
        let plan = try Fixture.plan("open_loop", #"{"rate": \#(rate), "duration_ns": 1000000000}"#)
        guard case .arrivals(let instants) = plan.pacing else {
            Issue.record("the plan has no arrivals")
            return
        }
        let figure = figures(of: plan, submitted: { operation, _ in instants[operation] }, stalledOperation: nil)
        let theory = Double(Self.work) * (1 + load / (2 * (1 - load)))
        let mean = try #require(figure("intended_latency", "mean"))
        #expect(abs(mean / theory - 1) < 0.03, "\(mean) ns, in theory \(theory) ns")
    }

    @Test func `a closed loop shows the same stall only in its greatest value`() throws {
        let closed = try Fixture.plan("wakeup", #"{"operations": 2000}"#)
        let figure = figures(of: closed, submitted: { _, lastEnd in lastEnd }, stalledOperation: 1000)
        #expect(try #require(figure("service_latency", "p99.9")) < 11_000)
        #expect(try #require(figure("service_latency", "max")) > 100_000_000)
        #expect(figure("intended_latency", "p99") == nil)
    }
}
