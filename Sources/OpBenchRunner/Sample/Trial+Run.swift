import OpBenchBackends
import OpBenchModel

extension Trial {
    /// Takes the sample: warm-up, rounds until it has lasted long enough, the outcome check, the figures.
    func run() -> SampleReport {
        var report = SampleReport()
        switch factory.supports(plan) {
        case .unsupported(let reason):
            report.status = .unsupported
            report.notes = reason
            return report
        case .full(let note): report.note(note)
        }
        if !plan.concerns.isSubset(of: factory.guarantees) { report.flags.append("unpromised") }
        report.flags += factory.axes(of: plan).map(\.rawValue)
        if !plan.phases.isEmpty {
            SequenceTrial(trial: self).run(into: &report)
            return report
        }
        if plan.isRefill, plan.form == .closure {
            report.note("closures in BlockOperations, for their completion blocks")
        }
        WarmUp(factory: factory, kernel: kernel).run(plan, into: &report)
        report.referenceLoopNanoseconds.append(ReferenceLoop.run(kernel))
        let competitors = Competitors(count: plan.threadPriorities?.competitors ?? 0)
        let producers = Producers(plan)
        switch flavour {
        case .throughput: ThroughputTrial(trial: self, competitors: competitors).run(producers, into: &report)
        case .latency: LatencyTrial(trial: self).run(producers, into: &report)
        case .allocations, .heap: MemoryTrial(trial: self).run(producers, into: &report)
        case .calls: CallTrial(trial: self).run(producers, into: &report)
        case .check: CheckTrial(trial: self).run(producers, into: &report)
        }
        producers.dismiss()
        competitors.dismiss()
        report.referenceLoopNanoseconds.append(ReferenceLoop.run(kernel))
        return report
    }
}
