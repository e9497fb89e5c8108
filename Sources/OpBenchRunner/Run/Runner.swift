import Foundation
import Glibc
import OpBenchBackends
import OpBenchModel

/// Takes the samples of a plan, one process after the other, and saves their rows.
public struct Runner: Sendable {
    private let plan: RunPlan
    private let options: RunOptions
    private let take: @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    private let readCovariates: @Sendable () -> Covariates

    /// A runner that starts this program again for every sample. `SampleChild.mainIfChild()` must be the first call of
    /// its `main`.
    ///
    /// - Parameter options: those that the plan was made with.
    public init(plan: RunPlan, options: RunOptions) {
        let child = ChildProcess()
        let timeout = plan.options.timeoutSeconds
        self.init(plan: plan) { request, executable in
            var child = child
            child.executable = executable
            return try await child.run(
                request: Array(try JSONEncoder().encode(request)), environment: Self.environment(for: request.flavour),
                timeoutSeconds: timeout)
        }
    }

    /// A runner whose samples are taken by `take`, which is told which program is to take them, and whose surroundings are told by `readCovariates`.
    init(
        plan: RunPlan, readCovariates: @escaping @Sendable () -> Covariates = { .now() },
        take: @escaping @Sendable (SampleRequest, _ executable: String) async throws -> ChildResult
    ) {
        self.plan = plan
        options = plan.options
        self.take = take
        self.readCovariates = readCovariates
    }

    /// A crash is reported by its signal; Swift's backtraces would take seconds.
    private static func environment(for flavour: SampleFlavour) -> [String: String] {
        let quiet = ["SWIFT_BACKTRACE": "enable=no"]
        return flavour == .allocations ? quiet.merging(["MALLOC_CONF": "tcache:false"]) { $1 } : quiet
    }

    /// Runs the plan, or what is missing of it.
    ///
    /// If the task is cancelled, the sample in flight is ended and dropped, everything else is kept, and the outcome
    /// says so. A run that is finished is left as it is.
    ///
    /// - Parameters:
    ///   - onEvent: called on the caller's task, one event after the other.
    ///   - beforeEnd: called when all is measured, before `run.json` says so: what belongs to a finished run.
    /// - Throws: `InputError` before anything is run (an existing run, another run to resume, a folder that cannot be
    ///   made); `DiskError` if rows cannot be saved; an error of Subprocess if a process cannot be started; what
    ///   `beforeEnd` throws, which leaves the run to be gone on with.
    public func run(
        onEvent: (RunEvent) -> Void, beforeEnd: () throws -> Void = {}
    ) async throws -> RunOutcome {
        if options.resume, let folder = try RunFolder.finished(plan) {
            let outcome = RunOutcome(folder: folder, samplesTaken: 0, isCancelled: false, wasFinished: true)
            onEvent(.finished(outcome))
            return outcome
        }
        let opened = try await open(onEvent)
        var recorder = SampleRecorder(plan: plan, opened.rows)
        let todo = plan.samples.filter { !recorder.isDone($0) }
        let begun = MonotonicClock.now()
        let certain = plan.samples.filter { options.budget == nil || $0.stage == 0 }
        let estimate = plan.estimate(of: certain.filter { !recorder.isDone($0) })
        onEvent(.started(total: certain.count, estimatedSeconds: max(estimate, options.budget?.seconds ?? 0)))
        if let budget = options.budget, estimate > budget.seconds {
            onEvent(.budgetIsShort(budgetSeconds: budget.seconds, estimatedSeconds: estimate))
        }
        // First of all: rows without a description could not be gone on with.
        try opened.saveProgress("running", recorder.done)
        let omitted = recorder.omissionRows()
        if !omitted.isEmpty {
            try opened.folder.save(omitted, [])
            onEvent(.rowsSaved)
        }
        var isCancelled = try await takeAll(todo, opened, &recorder, onEvent)
        if !isCancelled, let budget = options.budget {
            let end = begun + Int64(budget.seconds * 1e9)
            isCancelled = try await spend(budget, until: end, todo, opened, &recorder, onEvent)
        }
        if !isCancelled { try beforeEnd() }
        try opened.saveProgress(isCancelled ? "cancelled" : RunManifest.Progress.finished, recorder.done, isEnd: true)
        let outcome = RunOutcome(
            folder: opened.folder.path, samplesTaken: recorder.taken, isCancelled: isCancelled)
        onEvent(.finished(outcome))
        return outcome
    }

    /// Takes the samples, stage after stage.
    ///
    /// - Returns: whether the task was cancelled.
    private func takeAll(
        _ todo: [PlannedSample], _ opened: Opened, _ recorder: inout SampleRecorder, _ onEvent: (RunEvent) -> Void
    ) async throws -> Bool {
        for stage in options.stages.indices where options.budget == nil || stage == 0 {
            let isOpen = try cellsLeftOpen(before: stage, opened)
            if let isOpen {
                let rest = todo.filter { $0.stage >= stage && !recorder.isDone($0) && isOpen.contains($0.cell.id) }
                onEvent(.narrowed(total: recorder.done + rest.count))
            }
            let wanted = todo.filter { $0.stage == stage && isOpen?.contains($0.cell.id) ?? true }
            if try await takeInTurn(wanted, opened, &recorder, onEvent) { return true }
        }
        return false
    }

    /// Takes samples in their order.
    ///
    /// - Returns: whether the task was cancelled.
    private func takeInTurn(
        _ samples: [PlannedSample], _ opened: Opened, _ recorder: inout SampleRecorder, _ onEvent: (RunEvent) -> Void
    ) async throws -> Bool {
        for sample in samples {
            if Task.isCancelled { return true }
            do {
                try await takeAndSave(sample, opened, &recorder, onEvent)
            } catch is CancellationError {
                return true
            }
        }
        return false
    }

    /// Takes one block after the other where the intervals are widest, until the next one would take too long.
    ///
    /// - Returns: whether the task was cancelled.
    private func spend(
        _ budget: TimeBudget, until end: Int64, _ todo: [PlannedSample], _ opened: Opened,
        _ recorder: inout SampleRecorder, _ onEvent: (RunEvent) -> Void
    ) async throws -> Bool {
        let excess = seconds(MonotonicClock.now() - end)
        if excess > 0 {
            let more = Int(excess.rounded(.up))
            onEvent(.warning("the first blocks of all cells exceeded the budget by \(more) s"))
        }
        var spending = BudgetSpending(todo.filter { $0.stage > 0 && !recorder.isDone($0) }) {
            SampleEstimate.seconds(of: $0, options)
        }
        var rows = try opened.savedRows()
        while true {
            let remaining = seconds(end - MonotonicClock.now())
            guard let block = spending.next(widths: budget.widths(rows), remainingSeconds: remaining)
            else { return false }
            onEvent(.extended(total: recorder.done + block.count))
            let start = MonotonicClock.now()
            let isCancelled = try await takeInTurn(block, opened, &recorder) { event in
                if case .sampleFinished(_, _, let added) = event { rows += added }
                onEvent(event)
            }
            if isCancelled { return true }
            spending.note(block, seconds: seconds(MonotonicClock.now() - start))
        }
    }

    /// The cells that go on to a stage, by the blocks of the stages before and nothing else, so that a resumed run
    /// decides as the first one did; nil for all.
    private func cellsLeftOpen(before stage: Int, _ opened: Opened) throws -> Set<String>? {
        guard stage > 0 else { return nil }
        let blocks = options.stages[stage - 1]
        return options.goesOn(try opened.savedRows().filter { $0.block < blocks })
    }

    // MARK: Beginning

    private struct Opened {
        var folder: RunFolder
        var manifest: RunManifest
        var writer: RunManifest.Writer
        var rows: [SampleRow]

        /// All that the run has so far.
        func savedRows() throws -> [SampleRow] {
            try CSVFile.read(SampleRow.self, file: "\(folder.path)/\(SampleRow.fileName)")
        }

        func saveProgress(_ state: String, _ done: Int, isEnd: Bool = false) throws {
            let progress = RunManifest.Progress(
                state: state, samplesDone: done,
                runnerCPUSeconds: seconds(ResourceUsage.now().cpuNanoseconds), endedUTC: isEnd ? Timestamp.now() : nil)
            try folder.saveManifest(writer.text(progress))
        }
    }

    private func open(_ onEvent: (RunEvent) -> Void) async throws -> Opened {
        if options.resume, !RunFolder.isUndescribed(plan) {
            let remains = try RunFolder.reopen(plan)
            return Opened(
                folder: remains.folder, manifest: remains.manifest, writer: try .init(remains.manifest),
                rows: remains.rows)
        }
        try RunManifest.checkSize(of: plan)
        let folder = try RunFolder.create(plan)
        onEvent(.calibrating)
        let given = options.iterationsPerNanosecond.map(WorkKernel.init(iterationsPerNanosecond:))
        let manifest = RunManifest(
            plan: plan, calibration: given ?? .calibrate(), host: .gather(git: await GitFacts.read()))
        return Opened(folder: folder, manifest: manifest, writer: try .init(manifest), rows: [])
    }

    // MARK: One sample

    private func takeAndSave(
        _ sample: PlannedSample, _ opened: Opened, _ recorder: inout SampleRecorder, _ onEvent: (RunEvent) -> Void
    ) async throws {
        onEvent(
            .sampleStarted(
                index: recorder.done, total: plan.samples.count, cellID: sample.cell.id, backend: sample.backend,
                kind: sample.kind, block: sample.block))
        if let reason = recorder.reasonToPass(sample) {
            let rows = [recorder.passedRow(sample, reason)]
            try save(rows, [], of: sample, .skipped, opened, &recorder)
            onEvent(.sampleFinished(index: sample.index, status: .skipped, rows: rows))
            return onEvent(.rowsSaved)
        }
        var attempt = try await attempt(sample, opened, isRerun: false)
        var rows = recorder.rows(of: attempt)
        try save(rows, attempt.histogramRows, of: sample, attempt.report.status, opened, &recorder)
        if attempt.surroundings.isStorm, recorder.takesRerun(options) {
            attempt = try await self.attempt(sample, opened, isRerun: true)
            let rerunRows = recorder.rows(of: attempt)
            try save(rerunRows, attempt.histogramRows, of: sample, attempt.report.status, opened, &recorder)
            rows += rerunRows
        }
        onEvent(.sampleFinished(index: sample.index, status: attempt.report.status, rows: rows))
        onEvent(.rowsSaved)
    }

    private func save(
        _ rows: [SampleRow], _ histogramRows: [HistogramRow], of sample: PlannedSample, _ status: SampleStatus,
        _ opened: Opened, _ recorder: inout SampleRecorder
    ) throws {
        try opened.folder.save(rows, histogramRows)
        recorder.note(sample, status)
        try opened.saveProgress("running", recorder.done)
    }

    private func executable(for sample: PlannedSample) -> String {
        guard let side = sample.side, let builds = options.builds else { return ChildProcess.ownExecutable }
        return builds.build(of: side).path
    }

    private func attempt(_ sample: PlannedSample, _ opened: Opened, isRerun: Bool) async throws -> SampleAttempt {
        var request = SampleRequest(
            cell: sample.cell, backend: sample.backend, flavour: sample.flavour,
            targetNanoseconds: options.targetNanoseconds, kernel: opened.manifest.calibration, parent: getpid())
        if let side = sample.side { options.builds?.injected.spoil(&request, side: side) }
        let timestamp = Timestamp.now()
        let before = readCovariates()
        let result = try await take(request, executable(for: sample))
        let after = readCovariates()
        let report = SampleReport(result, timeoutSeconds: options.timeoutSeconds)
        return SampleAttempt(
            sample: sample, isRerun: isRerun, timestamp: timestamp, report: report,
            surroundings: Surroundings(before: before, after: after, anchorNanoseconds: report.anchorNanoseconds))
    }
}
