import OpBenchBackends
import OpBenchModel

/// Runs a shortened plan a few times in the sample's process before anything counts, and keeps the times, which show a
/// slope if there is one.
struct WarmUp {
    let factory: BackendFactory
    let kernel: WorkKernel

    private static let operations = 1000
    private static let pacedOperations = 100
    private static let iterations = 5
    /// Limit of iterations while the times still fall.
    private static let mostIterations = 20
    /// Limit of the warm-up's duration, in nanoseconds.
    private static let budget: Int64 = 15_000_000

    /// Adds a row per iteration, and the flag `slope` if the last three were at least a tenth faster than the three
    /// before.
    func run(_ plan: WorkloadPlan, into report: inout SampleReport) {
        let plan = Self.shortened(plan)
        let body = OperationBody(plan: plan, kernel: kernel, mode: .marked)
        let producers = Producers(plan)
        var times: [Int64] = []
        let end = MonotonicClock.now() + Self.budget
        repeat {
            times.append(Round.run(plan, by: factory, body, producers: producers).total)
            body.reset()
        } while times.count < Self.mostIterations && MonotonicClock.now() < end
            && (times.count < Self.iterations || Self.falls(times))
        producers.dismiss()
        body.deallocate()
        for (index, time) in times.enumerated() {
            report.add(
                .time, "total", Double(time), phase: "warmup", iteration: index, operations: plan.operationCount)
        }
        if Self.falls(times) { report.flags.append(.slope) }
    }

    /// Runs one more such round, traced, which names the threads that have no name.
    func nameThreads(_ plan: WorkloadPlan) {
        let plan = Self.shortened(plan)
        let body = OperationBody(plan: plan, kernel: kernel, mode: .traced)
        let producers = Producers(plan)
        _ = Round.run(plan, by: factory, body, producers: producers)
        producers.dismiss()
        body.deallocate()
    }

    private static func shortened(_ plan: WorkloadPlan) -> WorkloadPlan {
        shortened(plan, to: plan.pacing == nil ? operations : pacedOperations)
    }

    /// The plan with at most about this number of operations, without pauses.
    static func shortened(_ plan: WorkloadPlan, to operations: Int) -> WorkloadPlan {
        var plan = plan.shortened(to: operations)
        plan.pacing = plan.pacing?.hurried
        return plan
    }

    /// Whether the median of the last three times is below nine tenths of the median of the three before.
    static func falls(_ times: [Int64]) -> Bool {
        guard times.count >= 6 else { return false }
        let last = times.suffix(3).sorted()[1]
        let before = times.suffix(6).prefix(3).sorted()[1]
        return Double(last) < 0.9 * Double(before)
    }
}
