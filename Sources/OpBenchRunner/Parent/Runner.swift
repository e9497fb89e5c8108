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
