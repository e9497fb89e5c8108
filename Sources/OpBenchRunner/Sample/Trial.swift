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
