import OpBenchBackends
import OpBenchModel

/// A sample of a sequence: in every round the phases run in order, each with its plan, traces and producers, on one
/// queue if the sequence shares it. The column `class` of a figure names its phase.
struct SequenceTrial {
    let trial: Trial

    func run(into report: inout SampleReport) {
        for phase in trial.plan.phases {
            var part = SampleReport()
            WarmUp(factory: trial.factory, kernel: trial.kernel).run(phase.plan, into: &part)
            report.absorb(part, ofPhase: phase.name)
        }
        report.referenceLoopNanoseconds.append(ReferenceLoop.run(trial.kernel))
        let phases = trial.plan.phases.map { PhaseTrial($0, trial) }
        var spread = RoundSpread()
        var series = RoundSeries()
        switch trial.flavour.kind {
        case .check: _ = round(of: phases, into: &report)
        default:
            let isLongEnough = trial.repeatRounds {
                let before = Self.timed(phases).reduce(0) { $0 + $1.times.total }
                let elapsed = round(of: phases, into: &report)
                let total = Self.timed(phases).reduce(0) { $0 + $1.times.total } - before
                spread.add(total)
                series.add(total)
                return elapsed
            }
            if !isLongEnough { report.flags.append(.short) }
        }
        switch trial.flavour.kind {
        case .throughput: reportThroughput(of: phases, spread, series, into: &report)
        case .latency: reportLatencies(of: phases, into: &report)
        case .check, .memory, .counters, .instructions: reportHighWater(of: phases, into: &report)
        }
        for phase in phases { phase.end() }
        report.referenceLoopNanoseconds.append(ReferenceLoop.run(trial.kernel))
    }

    /// Runs every phase once.
    ///
    /// - Returns: their total duration.
    private func round(of phases: [PhaseTrial], into report: inout SampleReport) -> Int64 {
        let keeper = trial.plan.sequence?.sharesQueue == true ? QueueKeeper() : nil
        return phases.reduce(0) { elapsed, phase in
            elapsed + phase.run(keeper, into: &report)
        }
    }

    // MARK: Figures

    /// Reports the throughput of each phase where it is meaningful, and their sum.
    ///
    /// - Parameters:
    ///   - spread: of the total times of all these phases together.
    ///   - series: of the same times.
    private func reportThroughput(
        of phases: [PhaseTrial], _ spread: RoundSpread, _ series: RoundSeries, into report: inout SampleReport
    ) {
        let timed = Self.timed(phases)
        var (together, usage) = (PhaseTimes(), ResourceUsage())
        for phase in timed {
            var part = SampleReport()
            phase.times.report(plan: phase.plan, into: &part)
            phase.usage.report(operations: phase.plan.operationCount * phase.times.rounds, into: &part)
            report.absorb(part, ofPhase: phase.name)
            together.add(phase.times)
            usage.add(phase.usage)
        }
        guard !timed.isEmpty else { return report.note("throughput is meaningful for none of the phases") }
        var plan = trial.plan
        plan.operationCount = timed.reduce(0) { $0 + $1.plan.operationCount }
        plan.itemCount = timed.reduce(0) { $0 + $1.plan.itemCount }
        together.report(plan: plan, into: &report)
        usage.report(operations: plan.operationCount * together.rounds, into: &report)
        spread.report(operations: plan.operationCount * together.rounds, into: &report)
        series.report(operationsPerRound: plan.operationCount, into: &report)
    }

    /// The phases whose throughput is meaningful.
    private static func timed(_ phases: [PhaseTrial]) -> [PhaseTrial] {
        phases.filter { ShapeDefinition.of($0.plan.shape).kinds.contains(.throughput) }
    }

    /// Reports the latencies of each phase as a whole, without classes within it.
    private func reportLatencies(of phases: [PhaseTrial], into report: inout SampleReport) {
        for phase in phases {
            var part = SampleReport()
            phase.analysis.report(rounds: phase.times.rounds, into: &part)
            report.absorb(part, ofPhase: phase.name)
        }
        report.add(
            .rounds, "total", Double(phases.first?.times.rounds ?? 0), operations: trial.plan.operationCount)
    }

    private func reportHighWater(of phases: [PhaseTrial], into report: inout SampleReport) {
        for phase in phases {
            var part = SampleReport()
            part.add(.highWater, "max", Double(phase.highWater), operations: phase.plan.operationCount)
            report.absorb(part, ofPhase: phase.name)
        }
    }
}

extension SampleReport {
    /// Adds the figures of a phase under its name, without those of classes within the phase.
    fileprivate mutating func absorb(_ part: SampleReport, ofPhase name: String) {
        figures += part.figures.filter(\.operationClass.isEmpty).map { figure in
            var figure = figure
            figure.operationClass = "phase=\(name)"
            return figure
        }
        histograms += part.histograms.filter(\.operationClass.isEmpty).map { buckets in
            var buckets = buckets
            buckets.operationClass = "phase=\(name)"
            return buckets
        }
        for flag in part.flags where !flags.contains(flag) { flags.append(flag) }
        note(part.notes)
    }
}

/// The state and results of one phase.
final class PhaseTrial {
    let name: String
    let plan: WorkloadPlan
    private let trial: Trial
    private let body: OperationBody
    private let producers: Producers
    private(set) var times = PhaseTimes()
    private(set) var usage = ResourceUsage()
    private(set) var analysis: RoundAnalysis
    private(set) var highWater = 0

    init(_ phase: PhasePlan, _ trial: Trial) {
        (name, plan, self.trial) = (phase.name, phase.plan, trial)
        let mode: OperationBody.Mode =
            switch trial.flavour.kind {
            case .throughput, .memory, .counters, .instructions: .marked
            case .latency: .stamped
            case .check: .checked
            }
        body = OperationBody(plan: plan, kernel: trial.kernel, mode: mode)
        producers = Producers(plan)
        analysis = RoundAnalysis(plan: plan)
    }

    func run(_ keeper: QueueKeeper?, into report: inout SampleReport) -> Int64 {
        let before = ResourceUsage.now()
        let round = Round.run(plan, by: trial.factory, body, producers: producers, keeper: keeper)
        usage.add(from: before, to: .now())
        usage.subtract(round.pausedUsage)
        times.add(round)
        var violations = plan.violations(of: body.traces)
        if trial.flavour.kind != .throughput { analysis.add(round, body) }
        if trial.flavour.kind == .check {
            violations += GuaranteeCheck(plan: plan, guarantees: trial.factory.guarantees).violations(
                of: body, analysis)
            violations += PacingCheck(plan: plan).violations(of: body, round.pace)
        }
        trial.fail(violations.map { "phase \(name): \($0)" }, into: &report)
        highWater = max(highWater, body.highWater)
        body.reset()
        return round.elapsed
    }

    /// Ends its threads and frees its traces. It must not run afterwards.
    func end() {
        producers.dismiss()
        body.deallocate()
    }
}
