import OpBenchBackends
import OpBenchModel

/// A sample that counts instructions under callgrind, which takes about 50 times as long as the program alone: few
/// rounds of a shortened plan, the same for all backends and builds.
///
/// Threads take turns under valgrind. How often they spin, park and wake each other depends on these turns, and only
/// adds instructions, so the round with the fewest counts.
struct InstructionTrial {
    let trial: Trial

    /// The number of rounds that count.
    static let rounds = 10
    /// The number of rounds before those: the first one binds libraries and creates threads.
    static let uncountedRounds = 2
    /// Limit of a round's CPU time without callgrind, in nanoseconds; callgrind takes about 50 times as long.
    private static let roundBudget = 5e6

    /// The number of operations to which longer plans are shortened, so that callgrind finishes in seconds.
    static func operations(cpuNanosecondsEach time: Double) -> Int {
        Int(max(10, min(2000, roundBudget / max(1, time))))
    }

    /// An estimate of what an operation takes besides its work, in nanoseconds.
    private static let costPerOperation = 1000.0

    func run(into report: inout SampleReport) {
        let plan = WarmUp.shortened(trial.plan, to: Self.operations(of: trial.plan))
        let body = OperationBody(plan: plan, kernel: trial.kernel, mode: .marked)
        let producers = Producers(plan)
        var counts: [Int64] = []
        for index in 0..<Self.uncountedRounds + Self.rounds {
            _ = Round.run(plan, by: trial.factory, body, producers: producers) { [trial] mark in
                guard index >= Self.uncountedRounds, let counter = trial.instructionCounter else { return }
                switch mark {
                case .before:
                    counter.begin()
                    trial.injectAllocations(per: plan)
                case .drained: if let count = counter.end() { counts.append(count) }
                case .pending, .released: break
                }
            }
            trial.judge(body, in: plan, into: &report)
            body.reset()
        }
        producers.dismiss()
        body.deallocate()
        guard counts.count == Self.rounds, let least = counts.min() else {
            return report.note("no instructions: callgrind did not see the marks of a round")
        }
        report.add(.instructions, "total", Double(least), phase: "total", operations: plan.operationCount)
    }

    /// The number for a plan, which depends on nothing that is measured.
    static func operations(of plan: WorkloadPlan) -> Int {
        let item = plan.body?.guessedNanoseconds ?? Double(plan.workNanoseconds)
        let work = item * Double(plan.itemCount) / Double(max(1, plan.operationCount))
        let blocked = Double(plan.blocking?.nanoseconds ?? 0)
        return operations(cpuNanosecondsEach: costPerOperation + work + blocked)
    }
}
