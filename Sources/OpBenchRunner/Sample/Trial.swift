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
