import Foundation
import OpBenchBackends
import OpBenchModel

/// Takes the samples of a plan, one process at a time, and saves their rows.
public struct Runner: Sendable {
    private let plan: RunPlan
    private let source: SampleSource

    /// A runner that starts this program again for every sample. `SampleChild.mainIfChild()` must be the first call of
    /// its `main`.
    public init(plan: RunPlan) {
        let child = ChildProcess(tool: LimitedProgram.launcher(for: plan.options.limits))
        let counted = CallgrindSamples(plan.options.limits)
        let means: @Sendable (SampleKind) -> ProfileMeans.Answer = { $0.means }
        self.init(plan: plan, means: means) { request, executable in
            let timeLimit = plan.options.timeLimit(of: request)
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
        plan: RunPlan, readCovariates: @escaping @Sendable () -> Covariates = { .now() },
        means: @escaping @Sendable (SampleKind) -> ProfileMeans.Answer = { _ in .init(.hooks) },
        take: @escaping @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    ) {
        self.plan = plan
        source = SampleSource(take: take, readCovariates: readCovariates, means: means)
    }

    private static func environment(for flavour: SampleFlavour) -> [String: String] {
        let common = ChildProcess.environment
        return flavour == .allocations
            ? common.merging([SampleEnvironment.allocatorOptions: "tcache:false"]) { $1 } : common
    }

    /// Runs the plan, or its missing samples.
    ///
    /// A part of a sweep appears under its name when it is finished. If another process of this machine left the part
    /// unfinished, the run resumes it.
    ///
    /// If the task is cancelled, the run ends and drops the sample in flight, keeps everything else, and returns an
    /// outcome that is marked as cancelled. A finished run stays unchanged.
    ///
    /// - Parameters:
    ///   - onEvent: called on the caller's task, one event at a time.
    ///   - beforeEnd: called after the last sample and before `run.json` records the end, for work that belongs to a
    ///     finished run.
    /// - Throws: `InputError` before anything runs (samples that this machine cannot take, an existing run, another run
    ///   to resume, a folder that cannot be made); `DiskError` if rows cannot be saved; `StartFailure` if a process
    ///   cannot be started; the error of `beforeEnd`, which leaves a run that can be resumed.
    public func run(
        onEvent: @escaping (RunEvent) -> Void, beforeEnd: () throws -> Void = {}
    ) async throws -> RunOutcome {
        let part = PartFolder(plan.options)
        let executable: BuildFacts? =
            if plan.options.builds != nil { nil } else if let build = plan.options.build { build } else {
                await BuildFacts.own()
            }
        let finished =
            if let part { try part.finished() } else if plan.options.resume {
                try RunFolder.finished(plan, by: executable)
            } else { String?.none }
        if let finished {
            let outcome = RunOutcome(folder: finished, samplesTaken: 0, isCancelled: false, wasFinished: true)
            onEvent(.finished(outcome))
            return outcome
        }
        var source = source
        source.lacks = try plan.lacks(source.means)
        let session = try await RunSession.open(plan, by: executable, source, onEvent)
        let begun = MonotonicClock.now()
        try session.begin()
        var isCancelled = try await session.takeStages()
        if !isCancelled, let budget = plan.options.budget {
            isCancelled = try await session.spend(budget, until: begun + Int64(budget.seconds * 1e9))
        }
        if !isCancelled { try beforeEnd() }
        var outcome = try session.end(isCancelled: isCancelled)
        if let part, !isCancelled {
            outcome.folder = part.path
            if try !part.publish() {
                onEvent(.warning("another machine finished this part first; its rows are kept"))
            }
        }
        return outcome
    }
}

/// An event of a run.
public enum RunEvent: Sendable {
    /// `total` counts all samples that are certain, including those of earlier processes. The estimate covers the
    /// remaining samples. A run for a precision may end before its budget is spent.
    case started(total: Int, estimatedSeconds: Double, budgetSeconds: Double?, isForPrecision: Bool = false)
    case calibrating
    /// A stage has ended. `total` is the number of samples of the whole run if all of the next stage's are needed. The
    /// estimate covers the remaining samples.
    case narrowed(total: Int, estimatedSeconds: Double)
    /// The run has chosen more samples. `total` includes them; the estimate covers only them.
    case extended(total: Int, estimatedSeconds: Double)
    /// The number of cells that a run for a precision still improves, and the greatest relative distance of an
    /// interval's end from its figure.
    case imprecise(cells: Int, distance: Double)
    /// `index` counts from 0 over all samples of the run, including those of earlier processes.
    case sampleStarted(index: Int, total: Int, cellID: String, backend: BackendID, kind: SampleKind, block: Int)
    /// Sent once for each sample, with the rows of its repeat if there was interference. The estimate is the plan's,
    /// which is part of the estimates above.
    case sampleFinished(index: Int, status: SampleStatus, rows: [SampleRow], estimatedSeconds: Double)
    /// Rows are on disk: of a sample, its repeat or an omission. A resumed run first sends the rows of earlier
    /// processes.
    case rowsSaved([SampleRow])
    case warning(String)
    /// Sent before the first sample: the minimum blocks of all cells are likely to take longer than the budget.
    case budgetIsShort(budgetSeconds: Double, estimatedSeconds: Double)
    case finished(RunOutcome)
}

/// How a run ended.
public struct RunOutcome: Sendable, Equatable {
    /// The run's own folder.
    public var folder: String
    /// Samples taken by this process, including repeats of noisy ones.
    public var samplesTaken: Int
    /// Whether the task was cancelled before the last sample. Finished samples are kept.
    public var isCancelled: Bool
    /// Whether the run was already finished, so that nothing was done and no file touched.
    public var wasFinished: Bool

    public init(folder: String, samplesTaken: Int, isCancelled: Bool, wasFinished: Bool = false) {
        self.folder = folder
        self.samplesTaken = samplesTaken
        self.isCancelled = isCancelled
        self.wasFinished = wasFinished
    }
}

/// The source of a run's samples.
struct SampleSource: Sendable {
    /// Takes a sample with a program, in a separate process.
    let take: @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    /// Reads the conditions around a sample.
    let readCovariates: @Sendable () -> Covariates
    /// Determines what the machine has for samples of a kind.
    let means: @Sendable (SampleKind) -> ProfileMeans.Answer
    /// By kind, what the machine lacks for the run's samples.
    var lacks: [SampleKind: ProfileMeans.Answer] = [:]
}
