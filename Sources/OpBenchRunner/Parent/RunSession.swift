import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel

/// A run in progress: its folder, facts, rows and event handler.
///
/// Not thread-safe: one task uses it.
final class RunSession {
    private let plan: RunPlan
    private let options: RunOptions
    private let programs: SamplePrograms
    private let source: SampleSource
    private let folder: RunFolder
    private var facts: RunFacts
    private let writer: RunFacts.Writer
    private let send: (RunEvent) -> Void
    private var recorder: SampleRecorder
    /// Samples that earlier processes have not taken.
    private let todo: [PlannedSample]
    /// Whether an earlier process has saved rows.
    private let isContinued: Bool
    /// All saved rows, in order.
    private(set) var rows: [SampleRow] = []
    /// The cells that have not reached the precision; nil before that is known, and in a run without one.
    private var impreciseCells: [String]?

    private init(
        _ plan: RunPlan, _ programs: SamplePrograms, _ source: SampleSource, _ folder: RunFolder, _ facts: RunFacts,
        _ recorder: SampleRecorder, isContinued: Bool, _ send: @escaping (RunEvent) -> Void
    ) throws {
        self.plan = plan
        options = plan.options
        self.programs = programs
        self.source = source
        self.folder = folder
        self.facts = facts
        writer = try .init(facts)
        self.send = send
        self.recorder = recorder
        self.isContinued = isContinued
        todo = plan.samples.filter { !recorder.isDone($0) }
    }

    // MARK: Beginning and end

    /// Opens the folder of a new run, or of a run to resume.
    static func open(
        _ plan: RunPlan, by programs: SamplePrograms, _ source: SampleSource, _ send: @escaping (RunEvent) -> Void
    ) async throws -> RunSession {
        try RunFacts.checkSize(of: plan)
        let beginning = try RunFolder.open(plan, by: programs) { reason in
            send(.warning("cannot resume what an earlier process measured of this part: \(reason)"))
        }
        switch beginning {
        case .continued(let folder, let facts, let recorder):
            return try RunSession(plan, programs, source, folder, facts, recorder, isContinued: true, send)
        case .new(let folder):
            send(.calibrating)
            var host = Host.read(as: plan.options.host, on: plan.options.limits.processors)
            host.git = await GitFacts.read()
            let facts = RunFacts(
                plan: plan,
                calibration: plan.options.calibration ?? Self.calibrate(on: plan.options.limits.processors),
                host: host, programs: programs)
            return try RunSession(
                plan, programs, source, folder, facts, SampleRecorder(plan: plan), isContinued: false, send)
        }
    }

    /// Calibrates on the samples' processors: a machine may have processors of several kinds.
    private static func calibrate(on processors: ProcessorSet?) -> WorkKernel {
        guard let processors else { return .calibrate() }
        nonisolated(unsafe) var kernel: WorkKernel?
        OwnThread {
            _ = clinux_stay_on_processors(processors.numbers.map { Int32($0) }, Int32(processors.count))
            kernel = .calibrate()
        }.join()
        return kernel!
    }

    /// Announces the samples to take, and saves the rows of omissions.
    func begin() throws {
        let certain = plan.samples.filter { options.budget == nil || $0.stage == 0 }
        let estimate = plan.estimate(of: certain.filter { !recorder.isDone($0) })
        send(
            .started(
                total: certain.count,
                isLeast: options.budget != nil || options.stages.count == 1 && !plan.reserve.isEmpty,
                estimatedSeconds: estimate, budgetSeconds: options.budget?.seconds,
                isForPrecision: options.budget?.precision != nil))
        if let budget = options.budget, estimate > budget.seconds {
            send(.budgetIsShort(budgetSeconds: budget.seconds, estimatedSeconds: estimate))
        }
        // First of all: rows without a description could not be resumed.
        try saveProgress(.running)
        for (kind, lack) in source.lacks.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            send(.warning("\(kind.rawValue): \(lack.advice)"))
        }
        if isContinued { tellSaved(try folder.savedRows()) }
        let omitted = recorder.omissionRows()
        if !omitted.isEmpty {
            try folder.save(omitted, [])
            tellSaved(omitted)
        }
    }

    private func tellSaved(_ saved: [SampleRow]) {
        rows += saved
        send(.rowsSaved(rows))
    }

    private static func isCount(_ row: SampleRow, of kind: SampleKind) -> Bool {
        Metric.named(row.metric).map { $0.isDeterministic && $0.kinds.contains(kind) } ?? false
    }

    func end(isCancelled: Bool) throws -> MeasuredRun {
        try saveProgress(isCancelled ? .cancelled : .finished, isEnd: true)
        facts.workloads = plan.specs
        send(.finished)
        var run = MeasuredRun(folder.path, in: folder.path, samples: rows, facts: facts)
        run.samplesTaken = recorder.taken
        return run
    }

    // MARK: Order

    /// Takes the samples, stage after stage; with a budget, only the first stage.
    ///
    /// - Returns: whether the task was cancelled.
    func takeStages() async throws -> Bool {
        for stage in options.stages.indices where options.budget == nil || stage == 0 {
            let isOpen = try cellsLeftOpen(before: stage)
            if let isOpen {
                let rest = todo.filter { $0.stage >= stage && !recorder.isDone($0) && isOpen.contains($0.cell.id) }
                send(.narrowed(total: recorder.done + rest.count, estimatedSeconds: plan.estimate(of: rest)))
            }
            let wanted = todo.filter { $0.stage == stage && isOpen?.contains($0.cell.id) ?? true }
            if try await takeInTurn(wanted) { return true }
            if stage == 0, try await takeReserve() { return true }
        }
        return false
    }

    /// Takes more samples of counts that do not agree yet, or that differ between the sides.
    ///
    /// - Returns: whether the task was cancelled.
    private func takeReserve() async throws -> Bool {
        for block in Set(plan.reserve.map(\.block)).sorted() {
            let wanted = try SampleKind.allCases.filter(\.isOfCounts).flatMap { kind in
                let rows = rows.filter { $0.block < block && Self.isCount($0, of: kind) }
                var counts = CountAgreement()
                for row in rows { counts.add(row) }
                let confirmed = try options.confirmsCounts(rows)
                return plan.reserve.filter {
                    $0.block == block && $0.kind == kind && !recorder.isDone($0)
                        && (confirmed.contains($0.cell.id) || counts.isOpen($0.cell.id, $0.backend, before: block))
                }
            }
            if wanted.isEmpty { continue }
            send(.extended(estimatedSeconds: plan.estimate(of: wanted)))
            if try await takeInTurn(wanted) { return true }
        }
        return false
    }

    /// Takes block after block where the intervals are widest, until all are narrow enough or the next block would
    /// exceed the budget.
    ///
    /// - Returns: whether the task was cancelled.
    func spend(_ budget: TimeBudget, until end: Int64) async throws -> Bool {
        let excess = seconds(MonotonicClock.now() - end)
        if excess > 0 {
            let more = Int(excess.rounded(.up))
            send(.warning("the first blocks of all cells exceeded the budget by \(more) s"))
        }
        var spending = BudgetSpending(todo.filter { $0.stage > 0 && !recorder.isDone($0) }) {
            options.estimate(of: $0)
        }
        // By cell: a block changes only its own cell's widths.
        var needed = Dictionary(grouping: rows.lazy.filter(budget.isNeeded), by: \.cellID)
        var widths: [String: Double] = [:]
        for (cellID, rows) in needed { widths[cellID] = budget.widths(rows)[cellID] }
        while true {
            let wide = widths.filter { $0.value > budget.sufficient }
            if budget.precision != nil, let most = wide.values.max() {
                send(.imprecise(cells: wide.count, distance: most))
            }
            let remaining = seconds(end - MonotonicClock.now())
            guard let block = spending.next(widths: wide, remainingSeconds: remaining), let cell = block.first?.cell.id
            else { break }
            send(.extended(estimatedSeconds: plan.estimate(of: block)))
            let start = MonotonicClock.now()
            let known = rows.count
            if try await takeInTurn(block) { return true }
            needed[cell, default: []] += rows[known...].filter(budget.isNeeded)
            spending.note(block, seconds: seconds(MonotonicClock.now() - start))
            widths[cell] = budget.widths(needed[cell] ?? [])[cell]
        }
        if budget.precision != nil {
            // Without a time there is no interval: the backends do not support the cell, or its samples failed.
            let timed = needed.filter { _, rows in
                rows.contains { $0.status == .ok && $0.kind == .throughput }
            }.keys
            impreciseCells = timed.filter { widths[$0].map { $0 > budget.sufficient } ?? true }.sorted()
        }
        return false
    }

    /// Takes samples in order.
    ///
    /// - Returns: whether the task was cancelled.
    private func takeInTurn(_ samples: [PlannedSample]) async throws -> Bool {
        for sample in samples {
            if Task.isCancelled { return true }
            do {
                try await takeAndSave(sample)
            } catch is CancellationError {
                return true
            }
        }
        return false
    }

    /// The cells that continue with a stage; nil for all. Depends only on the blocks of earlier stages, so a resumed
    /// run decides as the first process did.
    private func cellsLeftOpen(before stage: Int) throws -> Set<String>? {
        guard stage > 0 else { return nil }
        let blocks = options.stages[stage - 1]
        return try options.goesOn(rows.filter { $0.block < blocks })
    }

    // MARK: One sample

    private func takeAndSave(_ sample: PlannedSample) async throws {
        send(
            .sampleStarted(
                index: recorder.done, total: plan.samples.count, cellID: sample.cell.id, backend: sample.backend,
                kind: sample.kind, block: sample.block))
        if let reason = source.lacks[sample.kind]?.reasonToPass ?? recorder.reasonToPass(sample) {
            let rows = [recorder.passedRow(sample, programs.program(of: sample).layout, reason)]
            try save(rows, [], of: sample, .skipped)
            return tellFinished(sample, .skipped, rows)
        }
        var attempt = try await attempt(sample, isRerun: false)
        var rows = try save(attempt)
        if attempt.isNoisy, recorder.takesRerun(options) {
            attempt = try await self.attempt(sample, isRerun: true)
            rows += try save(attempt)
        }
        return tellFinished(sample, attempt.report.status, rows)
    }

    private func tellFinished(_ sample: PlannedSample, _ status: SampleStatus, _ rows: [SampleRow]) {
        send(
            .sampleFinished(
                index: sample.index, status: status, rows: rows,
                estimatedSeconds: options.estimate(of: sample)))
    }

    private func attempt(_ sample: PlannedSample, isRerun: Bool) async throws -> SampleAttempt {
        var request = SampleRequest(
            cell: sample.drawnCell, backend: sample.backend, flavour: sample.flavour,
            targetNanoseconds: options.targetNanoseconds,
            kernel: sample.kind == .instructions ? .nominal : facts.calibration, parent: getpid())
        if let side = sample.side { programs.builds?.injected.spoil(&request, side: side) }
        let program = programs.program(of: sample)
        let timestamp = Timestamp.now()
        let before = source.readCovariates()
        let result = try await source.take(request, program.path)
        let after = source.readCovariates()
        let timeLimit = options.timeLimit(of: request.cell, on: sample.backend, sample.flavour)
        let report = SampleReport(result, timeoutSeconds: timeLimit)
        return SampleAttempt(
            sample: sample, layout: program.layout, isRerun: isRerun, timestamp: timestamp, report: report,
            interference: Interference(
                before: before, after: after, referenceLoopNanoseconds: report.referenceLoopNanoseconds))
    }

    // MARK: Saving

    /// - Returns: the rows of the attempt.
    private func save(_ attempt: SampleAttempt) throws -> [SampleRow] {
        let rows = recorder.rows(of: attempt)
        try save(rows, attempt.histogramRows, of: attempt.sample, attempt.report.status)
        return rows
    }

    private func save(
        _ rows: [SampleRow], _ histogramRows: [HistogramRow], of sample: PlannedSample, _ status: SampleStatus
    ) throws {
        try folder.save(rows, histogramRows)
        tellSaved(rows)
        recorder.note(sample, status)
        if recorder.done % samplesPerProgress == 0 { try saveProgress(.running) }
    }

    /// The number of samples between two updates of the description. The description names every sample and is written
    /// as a whole, so a long run writes it a limited number of times. The rows alone determine which samples are done.
    private var samplesPerProgress: Int { max(1, plan.samples.count / Self.progressesOfRun) }
    private static let progressesOfRun = 200

    private func saveProgress(_ state: RunFacts.Progress.State, isEnd: Bool = false) throws {
        let progress = RunFacts.Progress(
            state: state, samplesDone: recorder.done, samplesBad: recorder.bad, blocksDone: recorder.blocks,
            runnerCPUNanoseconds: ResourceUsage.now().cpuNanoseconds, endedUTC: isEnd ? Timestamp.now() : nil,
            impreciseCells: state == .finished ? impreciseCells : nil)
        try folder.saveFacts(writer.text(progress))
        facts.progress = progress
    }
}
