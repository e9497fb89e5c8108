import Foundation
import OpBenchBackends
import OpBenchModel

/// Takes the samples of a plan, one process after the other, and saves their rows.
public struct Runner: Sendable {
    private let plan: RunPlan
    private let source: SampleSource

    /// A runner that starts this program again for every sample. `SampleChild.mainIfChild()` must be the first call of
    /// its `main`.
    public init(plan: RunPlan) {
        let child = ChildProcess(tool: LimitedProgram.launcher(for: plan.options.limits))
        let timeout = plan.options.timeoutSeconds
        self.init(plan: plan) { request, executable in
            var child = child
            child.executable = executable
            return try await child.run(
                request: Array(try JSONEncoder().encode(request)), environment: Self.environment(for: request.flavour),
                timeoutSeconds: timeout)
        }
    }

    /// A runner whose samples are taken by `take`, which is told which program is to take them, and what else uses the machine is
    /// told by `readCovariates`.
    init(
        plan: RunPlan, readCovariates: @escaping @Sendable () -> Covariates = { .now() },
        take: @escaping @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    ) {
        self.plan = plan
        source = SampleSource(take: take, readCovariates: readCovariates)
    }

    private static func environment(for flavour: SampleFlavour) -> [String: String] {
        let common = ChildProcess.environment
        return flavour == .allocations
            ? common.merging([SampleEnvironment.allocatorOptions: "tcache:false"]) { $1 } : common
    }

    /// Runs the plan, or what is missing of it.
    ///
    /// A part of a sweep appears under its name when it is finished; what another process of this machine has left of it is
    /// gone on with.
    ///
    /// If the task is cancelled, the sample in flight is ended and dropped, everything else is kept, and the outcome
    /// says so. A run that is finished is left as it is.
    ///
    /// - Parameters:
    ///   - onEvent: called on the caller's task, one event after the other.
    ///   - beforeEnd: called when all is measured, before `run.json` says so: what belongs to a finished run.
    /// - Throws: `InputError` before anything is run (an existing run, another run to resume, a folder that cannot be
    ///   made); `DiskError` if rows cannot be saved; `StartFailure` if a process cannot be started; what
    ///   `beforeEnd` throws, which leaves the run to be gone on with.
    public func run(
        onEvent: @escaping (RunEvent) -> Void, beforeEnd: () throws -> Void = {}
    ) async throws -> RunOutcome {
        let part = PartFolder(plan.options)
        let finished = part == nil ? plan.options.resume ? try RunFolder.finished(plan) : nil : try part?.finished()
        if let finished {
            let outcome = RunOutcome(folder: finished, samplesTaken: 0, isCancelled: false, wasFinished: true)
            onEvent(.finished(outcome))
            return outcome
        }
        let session = try await RunSession.open(plan, source, onEvent)
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
                onEvent(.warning("another machine has finished this part before: its rows are kept"))
            }
        }
        return outcome
    }
}

/// What happens in a run, as it happens.
public enum RunEvent: Sendable {
    /// `total` are all samples that are certain, those of an earlier part included; the estimate is of those that are left.
    case started(total: Int, estimatedSeconds: Double, budgetSeconds: Double?)
    case calibrating
    /// A stage has ended, and so many samples will have been taken in the whole run if all of the next one's stand. The
    /// estimate is of those that are left.
    case narrowed(total: Int, estimatedSeconds: Double)
    /// A budget leaves time for more: so many samples will have been taken with those chosen now, which the estimate is of.
    case extended(total: Int, estimatedSeconds: Double)
    /// `index` counts from 0 over all samples of the run, those of an earlier part included.
    case sampleStarted(index: Int, total: Int, cellID: String, backend: BackendID, kind: SampleKind, block: Int)
    /// Once for each sample, with the rows of its repeat if it was taken under interference. The estimate is what the plan
    /// thought of it, as part of those above.
    case sampleFinished(index: Int, status: SampleStatus, rows: [SampleRow], estimatedSeconds: Double)
    /// Rows are on disk: those of a sample or of its repeat; of what is not measured; first those of an earlier process, where
    /// a run is continued.
    case rowsSaved([SampleRow])
    case warning(String)
    /// Before the first sample: those that every cell gets are likely to take longer than the budget.
    case budgetIsShort(budgetSeconds: Double, estimatedSeconds: Double)
    case finished(RunOutcome)
}

/// How a run ended.
public struct RunOutcome: Sendable, Equatable {
    /// The run's own folder.
    public var folder: String
    /// Samples taken now, repeats of noisy ones included.
    public var samplesTaken: Int
    /// Whether the task was cancelled before the last sample. What was measured is kept.
    public var isCancelled: Bool
    /// Whether the run was finished before, so that nothing was done and no file of it was touched.
    public var wasFinished: Bool

    public init(folder: String, samplesTaken: Int, isCancelled: Bool, wasFinished: Bool = false) {
        self.folder = folder
        self.samplesTaken = samplesTaken
        self.isCancelled = isCancelled
        self.wasFinished = wasFinished
    }
}

/// Where a run's samples come from.
struct SampleSource: Sendable {
    /// Takes a sample by a program, in a process of its own.
    let take: @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    /// Reads what surrounds samples.
    let readCovariates: @Sendable () -> Covariates
}
