import CLinuxMeasure
import OpBenchBackends
import OpBenchModel

/// One sample, in the process it runs in, as all kinds of sample have it: what is measured on what, how rounds are repeated,
/// how their outcome is judged. `run` takes it.
struct Trial {
    private(set) var plan: WorkloadPlan
    let factory: BackendFactory
    let flavour: SampleFlavour
    let kernel: WorkKernel
    /// How long a timed sample should last. One that stays below `SampleRequest.shortLimit` is flagged `short`.
    let targetNanoseconds: Int64
    /// Mallocs an operation that a memory sample makes on purpose.
    private(set) var injectedAllocations = 0

    /// Preparing and checking rounds may take this many times the target before a sample of tiny rounds is ended.
    private static let wallFactor: Int64 = 3

    init(_ request: SampleRequest, factory: BackendFactory) {
        self.init(
            plan: WorkloadPlan(request.cell), factory: factory, flavour: request.flavour, kernel: request.kernel,
            targetNanoseconds: request.targetNanoseconds)
        injectedAllocations = request.injectedAllocations ?? 0
    }

    init(
        plan: WorkloadPlan, factory: BackendFactory, flavour: SampleFlavour, kernel: WorkKernel,
        targetNanoseconds: Int64
    ) {
        var plan = plan
        if flavour == .heap, factory.canHoldPending(plan) { plan.startsSuspended = true }
        if flavour.kind == .memory { plan = plan.withoutStorm }
        self.plan = plan
        self.factory = factory
        self.flavour = flavour
        self.kernel = kernel
        self.targetNanoseconds = targetNanoseconds
    }

    /// The same with operations that arrive at another rate.
    func arriving(perSecond rate: Int) -> Trial {
        var trial = self
        trial.plan = plan.arriving(perSecond: rate)
        return trial
    }

    /// Repeats rounds until together they have lasted as long as the target. At least one is run.
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

/// A check sample: one round, counted with atomics, held against what the backend promises.
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

/// The sample that counts what a plan asks of the kernel: one round under the tracer, untimed, since every counted call
/// stops its thread for some microseconds.
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
            return report.note("calls were not counted: ptrace(2) or seccomp(2) is not permitted here")
        }
        let operations = trial.plan.operationCount
        report.add(
            .futexCalls, "total", Double(drained.futex - before.futex), phase: "total", operations: operations)
        // The pool's threads outlast the warm-up, in which most of them were made.
        report.add(
            .threadsCreated, "total", Double(Int(drained.threads) - OwnThread.count), operations: operations)
    }
}

/// The futex calls and threads of this process, counted by a tracer outside of it.
enum CallCounter {
    /// Written by `begin`, before there is a second thread.
    nonisolated(unsafe) private static var calls: UnsafePointer<clinux_calls>?

    /// From here on this is another process, which the old one traces; see `clinux_count_calls`. Only while the process
    /// has one thread.
    static func begin() { calls = clinux_count_calls().map { UnsafePointer($0) } }

    /// nil where the process is not traced.
    static func read() -> clinux_calls? { calls?.pointee }
}
