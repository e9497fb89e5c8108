import Foundation
import OpBenchBackends
import OpBenchModel

/// Takes the samples of a plan, one process at a time, and saves their rows.
public struct PlanRunner: Sendable {
    private let plan: RunPlan
    private let programs: SamplePrograms?
    private let source: SampleSource

    /// A runner that starts a program for every sample: by default this one, again. `SampleChild.mainIfChild()` must be
    /// the first call of its `main`.
    public init(plan: RunPlan, by programs: SamplePrograms? = nil) {
        let child = ChildProcess(tool: LimitedProgram.launcher(for: plan.options.limits))
        let counted = CallgrindSamples(plan.options.limits)
        let means: @Sendable (SampleKind) -> ProfileMeans.Answer = { $0.means }
        self.init(plan: plan, by: programs, means: means) { request, executable in
            let timeLimit = plan.options.timeLimit(of: request.cell, on: request.backend, request.flavour)
            var (child, request, environment) = (child, request, Self.environment(for: request.flavour))
            child.executable = executable
            if request.flavour == .instructions {
                let prepared = try await counted.prepare(request, for: child)
                (child, request) = (prepared.child, prepared.request)
                environment.merge(prepared.environment) { $1 }
            }
            return try await child.run(
                request: Array(try JSONEncoder().encode(request)), environment: environment, timeoutSeconds: timeLimit)
        }
    }

    /// A runner with its own sources: `take` takes a sample with the given program, `readCovariates` reads the
    /// machine's conditions, and `means` determines what the machine has for samples of a kind.
    init(
        plan: RunPlan, by programs: SamplePrograms? = nil,
        readCovariates: @escaping @Sendable () -> Covariates = { .now() },
        means: @escaping @Sendable (SampleKind) -> ProfileMeans.Answer = { _ in .init(.hooks) },
        take: @escaping @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    ) {
        precondition((programs?.builds != nil) == plan.options.hasSides, "a plan of two sides needs two builds")
        (self.plan, self.programs) = (plan, programs)
        source = SampleSource(take: take, readCovariates: readCovariates, means: means)
    }

    private static func environment(for flavour: SampleFlavour) -> [String: String] {
        let common = ChildProcess.environment
        return flavour == .allocations
            ? common.merging([SampleEnvironment.allocatorOptions: "tcache:false"]) { $1 } : common
    }

    /// Runs the plan, or its missing samples.
    ///
    /// A part of a sweep resumes what an earlier process of this machine has measured of it.
    ///
    /// If the task is cancelled, the run ends and drops the sample in flight, keeps everything else, and is not marked
    /// as finished. A finished run stays unchanged, and is read.
    ///
    /// - Parameters:
    ///   - onEvent: called on the caller's task, one event at a time.
    ///   - beforeEnd: called with all rows after the last sample, and before `run.json` records the end, for work that
    ///     belongs to a finished run.
    /// - Throws: `InputError` before anything runs (samples that this machine cannot take, an existing run, another run
    ///   to resume, a folder that cannot be made); `DiskError` if rows cannot be saved; `StartFailure` if a process
    ///   cannot be started; the error of `beforeEnd`, which leaves a run that can be resumed.
    public func run(
        onEvent: @escaping (RunEvent) -> Void, beforeEnd: (_ rows: [SampleRow]) throws -> Void = { _ in }
    ) async throws -> MeasuredRun {
        try Host.checkName()
        let programs = if let programs { programs } else { SamplePrograms.own(await BuildFacts.own()) }
        if let finished = try RunFolder.finished(plan, by: programs) {
            onEvent(.foundFinished)
            var run = try MeasuredRun.read(finished)
            run.facts?.workloads = plan.specs
            return run
        }
        var source = source
        source.lacks = try plan.lacks(source.means)
        let session = try await RunSession.open(plan, by: programs, source, onEvent)
        let begun = MonotonicClock.now()
        try session.begin()
        var isCancelled = try await session.takeStages()
        if !isCancelled, let budget = plan.options.budget {
            isCancelled = try await session.spend(budget, until: begun + Int64(budget.seconds * 1e9))
        }
        if !isCancelled { try beforeEnd(session.rows) }
        return try session.end(isCancelled: isCancelled)
    }
}
