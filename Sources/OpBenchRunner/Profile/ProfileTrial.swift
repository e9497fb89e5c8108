import Glibc
import OpBenchBackends
import OpBenchModel
import OpBenchProfile

/// A profiled sample, within its process: the same plan, warm-up and outcome check as a throughput sample, with a
/// recorder between the marks of each round.
struct ProfileTrial {
    let trial: Trial
    let order: ProfileOrder

    /// Exit status of a sample's process that could not write its files.
    static let fullDiskStatus: Int32 = 74
    /// Exit status of a sample's process whose recorder cannot record.
    static let refusalStatus: Int32 = 71

    /// Limit of the number of rounds, since the answer has a mark for each.
    private static let mostRounds = 20_000
    /// The number of traced rounds, each compared with an untraced one; fewer if they take long.
    private static let tracePairs = 5

    /// - Throws: errors of the recorder, such as `DiskError`.
    func run() throws -> ProfileAnswer {
        var answer = ProfileAnswer()
        switch trial.factory.supports(trial.plan) {
        case .unsupported(let reason):
            answer.report.status = .unsupported
            answer.report.notes = reason
            return answer
        case .full(let note): answer.report.note(note)
        }
        ThreadRegister.nameWorkers(String(trial.factory.id.rawValue.prefix(12)))
        // Before other threads exist: perf sees threads that start later from their beginning.
        let recorder = try recorder()
        warmUp(&answer)
        // Competitors run for a time, not for a number of operations.
        let competitors = Competitors(count: trial.plan.threadPriorities?.competitors ?? 0)
        let round = ProfiledRound(trial, beside: competitors, order.recorder == .trace ? .traced : .marked)
        if order.recorder == .trace {
            try trace(round, into: &answer)
        } else {
            try record(round, by: recorder, into: &answer)
        }
        round.end()
        competitors.dismiss()
        answer.process = getpid()
        answer.threads = ThreadRegister.all().map { ProfileAnswer.Thread(id: $0.id, name: $0.name) }
        return answer
    }

    /// Warms up like a throughput sample; then runs a short traced round, which names the threads.
    private func warmUp(_ answer: inout ProfileAnswer) {
        let warmUp = WarmUp(factory: trial.factory, kernel: trial.kernel)
        warmUp.run(trial.plan, into: &answer.report)
        warmUp.nameThreads(trial.plan)
        answer.report.figures = []
    }

    private func recorder() throws -> (any ProfileRecorder)? {
        switch order.recorder {
        case .none, .trace: nil
        case .signals: SignalSampler(folder: order.folder)
        case .perfCPU: try PerfRecorder(.cpu, folder: order.folder)
        case .perfWakeUps: try PerfRecorder(.wakeUps, folder: order.folder)
        case .perfSwitches: try PerfRecorder(.switches, folder: order.folder)
        case .heap: HeapSampler(folder: order.folder)
        case .schedule: ScheduleRecorder(folder: order.folder)
        }
    }

    // MARK: Rounds

    private func record(
        _ round: ProfiledRound, by recorder: (any ProfileRecorder)?, into answer: inout ProfileAnswer
    ) throws {
        try recorder?.begin()
        let end = MonotonicClock.now() + 3 * order.targetNanoseconds
        repeat {
            round.run(recorder: recorder, into: &answer)
        } while answer.totalNanoseconds < order.targetNanoseconds && answer.marks.count < Self.mostRounds
            && MonotonicClock.now() < end
        try recorder?.end()
    }

    /// Alternates rounds with and without the trace, and keeps the least disturbed traced one.
    private func trace(_ round: ProfiledRound, into answer: inout ProfileAnswer) throws {
        var kept: SampleTrace?
        var ratios: [Double] = []
        let end = MonotonicClock.now() + 3 * order.targetNanoseconds
        repeat {
            var plain = ProfileAnswer(report: answer.report)
            round.body.setTrace(false)
            round.run(into: &plain)
            round.body.setTrace(true)
            answer = ProfileAnswer(report: plain.report)
            let builder = TraceBuilder(trial.plan, backend: trial.factory.id)
            RunQueue.begin()
            trial.factory.threadEvents?.start()
            round.run(builder: builder, into: &answer)
            builder.threadEvents = trial.factory.threadEvents?.stop() ?? []
            builder.waits = RunQueue.end()
            let trace = try builder.finish()
            if kept.map(trace.isLessDisturbed) ?? true { kept = trace }
            ratios.append(Double(answer.totalNanoseconds) / Double(max(1, plain.totalNanoseconds)))
        } while ratios.count < Self.tracePairs && MonotonicClock.now() < end
        answer.perturbation = ratios.sorted()[(ratios.count - 1) / 2]
        answer.tracedRounds = ratios.count
        guard let kept else { return }
        let folder = try WrittenFolder(order.folder)
        let file = try NewFile(TraceBuilder.fileName, in: folder)
        try TraceFile.write(kept, to: file)
        try file.publish()
    }
}

/// The plan, which runs repeatedly.
final class ProfiledRound {
    private let trial: Trial
    private let plan: WorkloadPlan
    let body: OperationBody
    private let producers: Producers
    private let competitors: Competitors

    /// - Parameter mode: `traced` if some rounds will be traced.
    init(_ trial: Trial, beside competitors: Competitors, _ mode: OperationBody.Mode) {
        (self.trial, self.competitors, plan) = (trial, competitors, trial.plan)
        body = OperationBody(plan: plan, kernel: trial.kernel, mode: mode)
        producers = Producers(plan)
    }

    func run(
        recorder: (any ProfileRecorder)? = nil, builder: TraceBuilder? = nil, into answer: inout ProfileAnswer
    ) {
        var (before, usage) = (ResourceUsage(), ResourceUsage())
        let round = Round.run(plan, by: trial.factory, body, producers: producers) { [competitors] mark in
            switch mark {
            case .before:
                recorder?.roundBegins()
                before = .now(without: competitors)
            case .drained:
                usage.add(from: before, to: .now(without: competitors))
                recorder?.roundDrained()
            case .pending, .released: break
            }
        }
        answer.marks.append(ProfileAnswer.Mark(begin: round.begun, end: round.drained))
        answer.roundOperations = plan.operationCount
        answer.operations += plan.operationCount
        answer.totalNanoseconds += round.total
        usage.subtract(round.pausedUsage)
        answer.cpuNanoseconds += usage.cpuNanoseconds
        answer.voluntarySwitches += usage.voluntarySwitches
        answer.involuntarySwitches += usage.involuntarySwitches
        trial.fail(plan.violations(of: body.traces), into: &answer.report)
        builder?.add(round, body)
        body.reset()
    }

    /// Ends its threads and frees its traces. It must not run afterwards.
    func end() {
        producers.dismiss()
        body.deallocate()
    }
}
