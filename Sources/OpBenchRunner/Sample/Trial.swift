import CLinuxMeasure
import OpBenchBackends
import OpBenchModel

/// One sample within its process, with the parts that all kinds of sample share: plan and backend, the repetition of
/// rounds, and the judgement of outcomes. `run` takes the sample.
struct Trial {
    private(set) var plan: WorkloadPlan
    let factory: BackendFactory
    let flavour: SampleFlavour
    let kernel: WorkKernel
    /// Intended duration of a timed sample. Shorter ones than `SampleRequest.shortLimit` are flagged `short`.
    let targetNanoseconds: Int64
    /// Intentional mallocs per operation in a sample that counts.
    private(set) var injectedAllocations = 0
    /// Counts the processor's events; a script in tests.
    var counterSource: any CounterSource = KernelCounters()
    /// Counts instructions; nil outside of callgrind.
    var instructionCounter: (any InstructionCounter)?

    /// A sample of tiny rounds ends when it has taken this many times the target, including preparation and checks.
    private static let wallFactor: Int64 = 3

    init(_ request: SampleRequest, factory: BackendFactory) {
        self.init(
            plan: WorkloadPlan(request.cell), factory: factory, flavour: request.flavour, kernel: request.kernel,
            targetNanoseconds: request.targetNanoseconds)
        injectedAllocations = request.injectedAllocations ?? 0
        instructionCounter = request.countsFile.map(CallgrindCounter.init)
    }

    init(
        plan: WorkloadPlan, factory: BackendFactory, flavour: SampleFlavour, kernel: WorkKernel,
        targetNanoseconds: Int64
    ) {
        var plan = plan
        if flavour == .heap, factory.canHoldPending(plan) { plan.startsSuspended = true }
        if flavour.kind.isOfCounts || flavour == .counters { plan = plan.withoutStorm }
        self.plan = plan
        self.factory = factory
        self.flavour = flavour
        self.kernel = kernel
        self.targetNanoseconds = targetNanoseconds
    }

    /// The same trial with another arrival rate.
    func arriving(perSecond rate: Int) -> Trial {
        var trial = self
        trial.plan = plan.arriving(perSecond: rate)
        return trial
    }

    /// Repeats rounds until their total duration reaches the target. Runs at least one.
    ///
    /// - Returns: whether the sample has lasted long enough not to be flagged.
    func repeatRounds(_ round: () -> Int64) -> Bool {
        let wallEnd = MonotonicClock.now() + targetNanoseconds * Self.wallFactor
        var total: Int64 = 0
        repeat { total += round() } while total < targetNanoseconds && MonotonicClock.now() < wallEnd
        return total >= SampleRequest.shortLimit
    }

    func judge(_ body: OperationBody, into report: inout SampleReport) { judge(body, in: plan, into: &report) }

    /// Judges a round of another plan than the sample's own.
    func judge(_ body: OperationBody, in plan: WorkloadPlan, into report: inout SampleReport) {
        fail(plan.violations(of: body.traces), into: &report)
    }

    func fail(_ violations: [String], into report: inout SampleReport) {
        guard !violations.isEmpty, report.status != .invalid else { return }
        report.status = .invalid
        report.note(violations.joined(separator: "; "))
    }
}

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
        report.flags += factory.axes(of: plan).map(\.flag)
        if !plan.phases.isEmpty {
            SequenceTrial(trial: self).run(into: &report)
            return report
        }
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

/// A check sample: one round, counted with atomics and checked against the backend's guarantees.
struct CheckTrial {
    let trial: Trial

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .checked)
        defer { body.deallocate() }
        let round = Round.run(trial.plan, by: trial.factory, body, producers: producers)
        var analysis = RoundAnalysis(plan: trial.plan)
        analysis.add(round, body)
        trial.judge(body, into: &report)
        let verdict = GuaranteeCheck(plan: trial.plan, guarantees: trial.factory.guarantees)
        trial.fail(
            verdict.violations(of: body, analysis) + PacingCheck(plan: trial.plan).violations(of: body, round.pace),
            into: &report)
        report.add(.highWater, "max", Double(body.highWater), operations: trial.plan.operationCount)
    }
}

/// A sample that counts a plan's kernel calls: one round under the tracer, untimed, since every counted call stops its
/// thread for some microseconds.
struct CallTrial {
    let trial: Trial

    func run(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: trial.plan, kernel: trial.kernel, mode: .marked)
        defer { body.deallocate() }
        var (before, drained): (clinux_calls?, clinux_calls?) = (nil, nil)
        _ = Round.run(trial.plan, by: trial.factory, body, producers: producers) { mark in
            if mark == .before { before = CallCounter.read() }
            if mark == .drained { drained = CallCounter.read() }
        }
        trial.judge(body, into: &report)
        guard let before, let drained else {
            return report.note("calls were not counted, because ptrace(2) or seccomp(2) is not permitted here")
        }
        let operations = trial.plan.operationCount
        report.add(
            .futexCalls, "total", Double(drained.futex - before.futex), phase: "total", operations: operations)
        // The pool's threads outlive the warm-up, which created most of them.
        report.add(
            .threadsCreated, "total", Double(Int(drained.threads) - OwnThread.count), operations: operations)
    }
}

/// Counts futex calls and threads of this process, in a tracer outside it.
enum CallCounter {
    /// Written by `begin`, before there is a second thread.
    nonisolated(unsafe) private static var calls: UnsafePointer<clinux_calls>?

    /// Continues in a new process, which the old one traces; see `clinux_count_calls`. Call it only while the process
    /// has one thread.
    static func begin() { calls = clinux_count_calls().map { UnsafePointer($0) } }

    /// The counts; nil if the process is not traced.
    static func read() -> clinux_calls? { calls?.pointee }
}
