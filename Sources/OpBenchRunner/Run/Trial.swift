import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel

/// One sample, in the process it runs in: warm-up, rounds until the sample has lasted long enough, the outcome check,
/// the figures.
struct Trial {
    let plan: WorkloadPlan
    let factory: BackendFactory
    let flavour: SampleFlavour
    let kernel: WorkKernel
    /// How long a timed sample should last. One that stays below `shortLimit` is flagged `short`.
    let targetNanoseconds: Int64
    /// Mallocs an operation that a memory sample makes on purpose.
    private(set) var injectedAllocations = 0

    /// What measurement asks of a timed sample, in nanoseconds.
    static let shortLimit: Int64 = 100_000_000
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
        if flavour.kind == .memory { plan.storm = nil }
        self.plan = plan
        self.factory = factory
        self.flavour = flavour
        self.kernel = kernel
        self.targetNanoseconds = targetNanoseconds
    }

    func run() -> SampleReport {
        var report = SampleReport()
        switch factory.supports(plan) {
        case .unsupported(let reason):
            report.status = .unsupported
            report.notes = reason
            return report
        case .full(let note): report.note(note)
        }
        if !plan.phases.isEmpty {
            SequenceTrial(trial: self).run(into: &report)
            return report
        }
        if plan.isRefill, plan.form == .closure {
            report.note("closures in BlockOperations, for their completion blocks")
        }
        WarmUp(factory: factory, kernel: kernel).run(plan, into: &report)
        report.anchorNanoseconds.append(Anchor.run(kernel))
        let competitors = Competitors(count: plan.competitors)
        let producers = Producers(plan)
        switch flavour {
        case .throughput: measureThroughput(producers, into: &report)
        case .latency: measureLatency(producers, into: &report)
        case .allocations, .heap: MemoryTrial(trial: self).run(producers, into: &report)
        case .calls: CallTrial(trial: self).run(producers, into: &report)
        case .check: check(producers, into: &report)
        }
        producers.dismiss()
        competitors.dismiss()
        report.anchorNanoseconds.append(Anchor.run(kernel))
        return report
    }

    // MARK: Kinds

    private func measureThroughput(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: plan, kernel: kernel, mode: .marked)
        defer { body.deallocate() }
        var times = PhaseTimes()
        var usage = ResourceUsage()
        var steadiness = Steadiness()
        let isLongEnough = repeatRounds {
            let before = ResourceUsage.now()
            let round = Round.run(plan, by: factory, body, producers: producers)
            usage.add(from: before, to: .now())
            times.add(round)
            steadiness.add(round.total)
            judge(body, into: &report)
            body.reset()
            return round.elapsed
        }
        if !isLongEnough { report.flags.append("short") }
        times.report(plan: plan, into: &report)
        reportEfficiency(times, into: &report)
        let operations = plan.operationCount * times.rounds
        usage.report(operations: operations, into: &report)
        steadiness.report(operations: operations, into: &report)
        if factory.id == .serial { reportProbeCost(producers, into: &report) }
    }

    private func measureLatency(_ producers: Producers, into report: inout SampleReport) {
        if !plan.hasCompletionBlocks, !plan.isRefill {
            report.note("no notified stage: nothing here has a completion block")
        }
        if let search = RateSearch(self) { return search.run(into: &report) }
        let body = OperationBody(plan: plan, kernel: kernel, mode: .stamped)
        defer { body.deallocate() }
        var analysis = RoundAnalysis(plan: plan)
        var rounds = 0
        var perturbation = SelfPerturbation(limitNanoseconds: targetNanoseconds / 2)
        let isLongEnough = repeatRounds {
            let round = Round.run(plan, by: factory, body, producers: producers)
            analysis.add(round, body)
            rounds += 1
            judge(body, into: &report)
            body.reset()
            // How long an open loop takes is its pace's to say.
            if plan.isOpenLoop { return round.elapsed }
            perturbation.compare(with: round) {
                body.setStamps(false)
                defer { body.setStamps(true) }
                let plain = Round.run(plan, by: factory, body, producers: producers)
                judge(body, into: &report)
                body.reset()
                return plain
            }
            return round.elapsed
        }
        if !isLongEnough { report.flags.append("short") }
        analysis.report(rounds: rounds, into: &report)
        perturbation.report(operations: plan.operationCount, into: &report)
    }

    private func check(_ producers: Producers, into report: inout SampleReport) {
        let body = OperationBody(plan: plan, kernel: kernel, mode: .checked)
        defer { body.deallocate() }
        let round = Round.run(plan, by: factory, body, producers: producers)
        var analysis = RoundAnalysis(plan: plan)
        analysis.add(round, body)
        judge(body, into: &report)
        let verdict = GuaranteeCheck(plan: plan, guarantees: factory.guarantees)
        fail(
            verdict.violations(of: body, analysis) + PacingCheck(plan: plan).violations(of: body, round.pace),
            into: &report)
        report.add(.highWater, "max", Double(body.highWater), operations: plan.operationCount)
    }

    // MARK: Parts

    /// Repeats rounds until together they have lasted as long as the target. At least one is run.
    ///
    /// - Returns: whether the sample has lasted long enough not to be flagged.
    func repeatRounds(_ round: () -> Int64) -> Bool {
        let wallEnd = MonotonicClock.now() + targetNanoseconds * Self.wallFactor
        var total: Int64 = 0
        repeat { total += round() } while total < targetNanoseconds && MonotonicClock.now() < wallEnd
        return total >= Self.shortLimit
    }

    func judge(_ body: OperationBody, into report: inout SampleReport) { judge(body, in: plan, into: &report) }

    /// Judges a round of another plan than the sample's own.
    func judge(_ body: OperationBody, in plan: WorkloadPlan, into report: inout SampleReport) {
        fail(OutcomeCheck.violations(of: body, in: plan), into: &report)
    }

    func fail(_ violations: [String], into report: inout SampleReport) {
        guard !violations.isEmpty, report.status != .invalid else { return }
        report.status = .invalid
        report.note(violations.joined(separator: "; "))
    }

    /// How near the makespan comes to what work and span allow on this machine.
    private func reportEfficiency(_ times: PhaseTimes, into report: inout SampleReport) {
        let processors = max(1, Int(clinux_allowed_processors()))
        guard let ideal = plan.idealMakespan(processors: processors), times.makespan > 0 else { return }
        report.add(
            .schedulingEfficiency, "mean", ideal * Double(times.rounds) / Double(times.makespan), phase: "makespan",
            operations: plan.operationCount * times.rounds)
    }

    /// What the store costs an operation: the fastest of many rounds with it, less the fastest of as many without, taken
    /// in turn, and without the work, which would drown it.
    private func reportProbeCost(_ producers: Producers, into report: inout SampleReport) {
        var idle = plan
        idle.workNanoseconds = 0
        let body = OperationBody(plan: idle, kernel: kernel, mode: .marked)
        defer { body.deallocate() }
        var fastest = (marked: Int64.max, bare: Int64.max)
        let end = MonotonicClock.now() + targetNanoseconds / 10
        repeat {
            body.setMarks(true)
            fastest.marked = min(fastest.marked, Round.run(idle, by: factory, body, producers: producers).total)
            body.setMarks(false)
            fastest.bare = min(fastest.bare, Round.run(idle, by: factory, body, producers: producers).total)
        } while MonotonicClock.now() < end
        let operations = idle.operationCount
        report.add(
            .probeCost, "mean", seconds(fastest.marked - fastest.bare) / Double(operations), operations: operations)
    }
}

/// Nanoseconds as the seconds that rows hold.
func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }

/// The phases of all rounds of a sample together, in nanoseconds.
struct PhaseTimes {
    private(set) var rounds = 0
    private(set) var build: Int64 = 0
    private(set) var submit: Int64 = 0
    private(set) var cancel: Int64 = 0
    private(set) var drain: Int64 = 0
    private(set) var teardown: Int64 = 0
    private(set) var total: Int64 = 0
    private(set) var makespan: Int64 = 0
    private(set) var releaseFaults = 0

    /// Those of other rounds, which were run in the same turns.
    mutating func add(_ other: PhaseTimes) {
        rounds = max(rounds, other.rounds)
        build += other.build
        submit += other.submit
        cancel += other.cancel
        drain += other.drain
        teardown += other.teardown
        total += other.total
        makespan += other.makespan
        releaseFaults += other.releaseFaults
    }

    mutating func add(_ round: Round) {
        rounds += 1
        build += round.build
        submit += round.submit
        cancel += round.cancel
        drain += round.drain
        teardown += round.teardown
        total += round.total
        makespan += round.makespan
        releaseFaults += round.releaseFaults
    }

    /// Where submitting cannot be told from draining, `drain` holds both.
    func report(plan: WorkloadPlan, into report: inout SampleReport) {
        let operations = plan.operationCount * rounds
        var phases = [("build", build), ("submit", submit), ("drain", drain)]
        if plan.submitsWhileDraining { phases = [("build", build), ("drain", submit + drain)] }
        phases += [("teardown", teardown), ("total", total), ("makespan", makespan)]
        for (name, time) in phases { report.add(.time, "total", seconds(time), phase: name, operations: operations) }
        reportFeatures(of: plan, into: &report)
        let total = seconds(max(1, total))
        report.add(
            .operationThroughput, "rate", Double(operations) / total, phase: "total", operations: operations)
        report.add(
            .itemThroughput, "rate", Double(plan.itemCount * rounds) / total, phase: "total", operations: operations)
        report.add(.rounds, "total", Double(rounds), operations: operations)
    }

    private func reportFeatures(of plan: WorkloadPlan, into report: inout SampleReport) {
        if let chosen = plan.cancellation?.chosenCount, chosen > 0 {
            report.add(.time, "total", seconds(cancel), phase: "cancel", operations: chosen * rounds)
        }
        if plan.asksForRelease {
            let operations = plan.operationCount * rounds
            report.add(.releaseTime, "total", seconds(drain + teardown), phase: "released", operations: operations)
            report.add(.pageFaults, "total", Double(releaseFaults), phase: "released", operations: operations)
        }
        if let ideal = plan.idealBlockedMakespan(processors: sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
            report.add(
                .makespanRatio, "total", Double(makespan) / Double(ideal * rounds), phase: "makespan",
                operations: plan.operationCount * rounds)
        }
    }
}

/// A short fixed loop, to see how fast the machine is just now.
enum Anchor {
    /// What the loop takes on an undisturbed machine, in nanoseconds.
    static let nominal = 100_000

    /// The best of three.
    static func run(_ kernel: WorkKernel) -> Int64 {
        var best = Int64.max
        for _ in 0..<3 {
            let start = MonotonicClock.now()
            WorkKernel.run(kernel.iterations(nanoseconds: nominal))
            best = min(best, MonotonicClock.now() - start)
        }
        return best
    }
}
