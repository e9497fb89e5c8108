import OpBenchBackends
import OpBenchModel

/// A sample that counts instructions under callgrind, which takes about 50 times as long as the program alone: few
/// rounds of a shortened plan, the same for all backends and builds.
///
/// Threads take turns under valgrind. How often they spin, park and wake each other depends on these turns, and only
/// adds instructions, so the round with the fewest counts.
struct InstructionTrial {
    let trial: Trial

    /// Limits for which callgrind finishes in seconds.
    struct Limits: Equatable {
        /// Longer plans are shortened to about this number.
        var operations: Int
        /// The number of rounds that count.
        var rounds = 10
        /// The number of rounds before those: the first one binds libraries and creates threads.
        static let uncountedRounds = 2
        /// Limit of a round's CPU time without callgrind, in nanoseconds; callgrind takes about 50 times as long.
        private static let roundBudget = 5e6

        init(cpuNanosecondsPerOperation: Double) {
            operations = Int(max(10, min(2000, Self.roundBudget / max(1, cpuNanosecondsPerOperation))))
        }
    }

    /// An estimate of what an operation takes besides its work, in nanoseconds.
    private static let costPerOperation = 1000.0

    func run(into report: inout SampleReport) {
        let limits = Self.limits(of: trial.plan)
        let plan = WarmUp.shortened(trial.plan, to: limits.operations)
        let body = OperationBody(plan: plan, kernel: trial.kernel, mode: .marked)
        let producers = Producers(plan)
        var counts: [Int64] = []
        let uncounted = Limits.uncountedRounds
        for index in 0..<uncounted + limits.rounds {
            _ = Round.run(plan, by: trial.factory, body, producers: producers) { [trial] mark in
                guard index >= uncounted, let counter = trial.instructionCounter else { return }
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
        guard counts.count == limits.rounds, let least = counts.min() else {
            return report.note("no instructions: callgrind did not see the marks of a round")
        }
        report.add(.instructions, "total", Double(least), phase: "total", operations: plan.operationCount)
    }

    /// The limits of a plan, which depend on nothing that is measured.
    static func limits(of plan: WorkloadPlan) -> Limits {
        let item = plan.body?.guessedNanoseconds ?? Double(plan.workNanoseconds)
        let work = item * Double(plan.itemCount) / Double(max(1, plan.operationCount))
        let blocked = Double(plan.blocking?.nanoseconds ?? 0)
        return Limits(cpuNanosecondsPerOperation: costPerOperation + work + blocked)
    }
}
