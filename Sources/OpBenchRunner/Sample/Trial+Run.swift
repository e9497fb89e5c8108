import CLinuxMeasure
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
        if !plan.concerns.isSubset(of: factory.guarantees) { report.flags.append(.unpromised) }
        if plan.waits { report.flags.append(.waits) }
        if let axis = factory.axis(of: plan) { report.flags.append(axis.flag) }
        if plan.isRefill, plan.form == .closure {
            report.note("closures in BlockOperations, for their completion blocks")
        }
        if flavour == .instructions {
            InstructionTrial(trial: self).run(into: &report)
            return report
        }
        // Before there are other threads, all of which are counted from their beginning.
        let counters = flavour == .counters ? HardwareCounters(from: counterSource) : nil
        // Recorded waits include the delays of timers. Threads that are started later inherit it.
        if plan.replay != nil { clinux_exact_timers() }
        WarmUp(factory: factory, kernel: kernel).run(plan, into: &report)
        report.referenceLoopNanoseconds.append(ReferenceLoop.run(kernel))
        let competitors = Competitors(count: flavour == .counters ? 0 : plan.threadPriorities?.competitors ?? 0)
        let producers = Producers(plan)
        switch flavour {
        case .throughput: ThroughputTrial(trial: self, competitors: competitors).run(producers, into: &report)
        case .latency: LatencyTrial(trial: self).run(producers, into: &report)
        case .allocations, .heap: MemoryTrial(trial: self).run(producers, into: &report)
        case .calls: CallTrial(trial: self).run(producers, into: &report)
        case .counters: CounterTrial(trial: self, counters: counters!).run(producers, into: &report)
        case .instructions: break
        case .check: CheckTrial(trial: self).run(producers, into: &report)
        }
        producers.dismiss()
        competitors.dismiss()
        report.referenceLoopNanoseconds.append(ReferenceLoop.run(kernel))
        return report
    }
}
