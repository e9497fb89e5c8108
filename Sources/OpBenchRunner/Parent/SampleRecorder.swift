import OpBenchModel

/// Makes the rows of samples, and tracks which are done.
struct SampleRecorder {
    private let plan: RunPlan
    private var doneIDs: Set<String> = []
    /// Samples of the plan that are done.
    private(set) var done = 0
    /// Timeouts and crashes by side, backend and cell.
    private var failures: [String: Int] = [:]
    private var reruns = 0
    /// Failed attempts, without those that their workload expects to fail.
    private(set) var bad = 0
    /// By kind, the highest number of blocks that a cell has.
    private var blocksOfKinds: [SampleKind: Int] = [:]
    private let specs: [String: WorkloadSpec]
    /// Samples taken by this process.
    private(set) var taken = 0

    /// The number of timeouts or crashes of a backend on a cell after which no more samples are taken there.
    private static let failureLimit = 2

    /// A recorder for a run without samples.
    init(plan: RunPlan) {
        self.plan = plan
        specs = Dictionary(plan.specs.map { ($0.name, $0) }) { first, _ in first }
    }

    /// A recorder for a run that already has samples.
    ///
    /// - Parameter each: calls its argument with the `status` row of every sample that was saved whole.
    init(plan: RunPlan, earlier each: (_ take: (SampleRow) -> Void) throws -> Void) rethrows {
        self.init(plan: plan)
        let planned = plan.samples + plan.reserve
        let cells = Dictionary(planned.map { ($0.cell.id, $0.cell) }) { first, _ in first }
        try each { row in
            guard doneIDs.insert(row.sampleID).inserted else { return }
            if row.flags.contains(.rerun) { reruns += 1 }
            if row.status == .timeout || row.status == .crashed {
                failures[Self.key(row.side, row.backend, row.cellID), default: 0] += 1
            }
            if let cell = cells[row.cellID] { count(row.status, row.backend, cell) }
        }
        for sample in planned where doneIDs.contains(sample.id) {
            done += 1
            countBlock(of: sample)
        }
    }

    /// The highest number of throughput blocks of a cell; of another kind if there are none.
    var blocks: Int { blocksOfKinds[.throughput] ?? blocksOfKinds.values.max() ?? 0 }

    func isDone(_ sample: PlannedSample) -> Bool { doneIDs.contains(sample.id) }

    /// Whether an earlier process saved all rows of this id, which may be a sample, its repeat or an omission.
    func has(_ sampleID: String) -> Bool { doneIDs.contains(sampleID) }

    /// Records that a sample or its repeat has been saved.
    mutating func note(_ sample: PlannedSample, _ status: SampleStatus) {
        if doneIDs.insert(sample.id).inserted { done += 1 }
        if status == .timeout || status == .crashed { failures[Self.key(sample), default: 0] += 1 }
        count(status, sample.backend, sample.cell)
        countBlock(of: sample)
    }

    private mutating func count(_ status: SampleStatus, _ backend: BackendID, _ cell: Cell) {
        guard [.invalid, .crashed, .timeout].contains(status) else { return }
        if specs[cell.workload]?.expectation(of: status, for: backend, in: cell) == nil { bad += 1 }
    }

    private mutating func countBlock(of sample: PlannedSample) {
        blocksOfKinds[sample.kind] = max(sample.block + 1, blocksOfKinds[sample.kind] ?? 0)
    }

    private static func key(_ sample: PlannedSample) -> String {
        key(sample.side?.rawValue ?? "", sample.backend, sample.cell.id)
    }

    private static func key(_ side: String, _ backend: BackendID, _ cellID: String) -> String {
        "\(side) \(backend.rawValue) \(cellID)"
    }

    // MARK: Rules

    /// The reason not to take a sample; nil to take it.
    func reasonToPass(_ sample: PlannedSample) -> String? {
        let count = failures[Self.key(sample), default: 0]
        return count < Self.failureLimit
            ? nil : "not taken: \(count) samples of this backend and cell failed before"
    }

    /// Whether to repeat a sample taken under interference. The decision ignores the sample's result. At most a tenth
    /// of the plan is repeated, and nothing in a quick run.
    mutating func takesRerun(_ options: RunOptions) -> Bool {
        guard !options.isQuick, reruns < max(1, plan.samples.count / 10) else { return false }
        reruns += 1
        return true
    }

    // MARK: Rows

    /// All rows of an attempt. The last is the `status` row, which proves to readers that none is missing.
    mutating func rows(of attempt: SampleAttempt) -> [SampleRow] {
        taken += 1
        var report = attempt.report
        report.leaveOutImpossible()
        let operations = attempt.sample.cell.operationCount
        var flags = report.flags
        if attempt.isNoisy { flags.append(.noisy) }
        if attempt.isRerun { flags.append(.rerun) }
        var blank = row(
            attempt.sample, attempt.layout, id: attempt.id, timestamp: attempt.timestamp, report.status)
        blank.flags = flags
        blank.notes = report.notes
        blank.operations = operations
        let figures =
            report.figures + attempt.interference.figures(operations: operations)
            + placement(of: attempt.sample, operations: operations)
        return figures.map { figure in
            var row = blank
            row.metric = figure.metric
            row.stat = figure.stat
            row.value = figure.value
            row.phase = figure.phase
            row.iteration = figure.iteration
            row.operationClass = figure.operationClass
            row.operations = figure.operations
            return row
        } + [blank]
    }

    /// The sample's processors and NUMA nodes, if it was pinned. One under callgrind has one processor in any case.
    private func placement(of sample: PlannedSample, operations: Int) -> [SampleReport.Figure] {
        guard let processors = plan.options.limits.processors, sample.kind != .instructions else { return [] }
        let nodes = ProcessorLayout.here.nodes(of: processors).count
        return [(Metric.processors, processors.count), (.nodes, nodes)].map { metric, count in
            .init(metric: metric.name, stat: "total", value: Double(count), operations: operations)
        }
    }

    func passedRow(_ sample: PlannedSample, _ layout: Int?, _ reason: String) -> SampleRow {
        var row = row(sample, layout, id: sample.id, timestamp: Timestamp.now(), .skipped)
        row.notes = reason
        return row
    }

    /// One row for each backend that does not run on a cell, except rows that an earlier process has written.
    func omissionRows() -> [SampleRow] {
        plan.omissions.filter { !doneIDs.contains($0.id) }.map { omission in
            var row = row(omission.cell, omission.backend, omission.side, id: omission.id, omission.status)
            row.notes = omission.reason
            return row
        }
    }

    private func row(
        _ sample: PlannedSample, _ layout: Int?, id: String, timestamp: String, _ status: SampleStatus
    ) -> SampleRow {
        var row = row(sample.cell, sample.backend, sample.side, id: id, status)
        (row.timestampUTC, row.layout) = (timestamp, layout)
        (row.block, row.position) = (sample.block, sample.position)
        return row
    }

    /// A row without a figure, taken now.
    private func row(
        _ cell: Cell, _ backend: BackendID, _ side: Side?, id: String, _ status: SampleStatus
    ) -> SampleRow {
        var row = SampleRow.blank
        (row.runID, row.host) = (plan.options.runID, plan.options.host)
        (row.sampleID, row.timestampUTC) = (id, Timestamp.now())
        (row.workload, row.cellID) = (cell.workload, cell.id)
        (row.backend, row.side) = (backend, side?.rawValue ?? "")
        (row.status, row.metric) = (status, Metric.status.name)
        row.parameters = cell.parameters.mapValues(\.description)
        return row
    }
}

/// One process that was run for a sample.
struct SampleAttempt {
    var sample: PlannedSample
    /// The seed of the layout of the program that took it.
    var layout: Int?
    /// Whether this repeats a sample that was taken under interference.
    var isRerun: Bool
    var timestamp: String
    var report: SampleReport
    var interference: Interference

    var isNoisy: Bool { interference.disturbs(sample.kind) }

    var id: String { isRerun ? sample.rerunID : sample.id }

    var histogramRows: [HistogramRow] {
        report.histograms.map { histogram in
            // Another version may use other buckets.
            let buckets = LatencyBuckets.merged(
                zip(histogram.upperBounds, histogram.counts).map { (upperBound: $0, count: $1) })
            var row = HistogramRow.blank
            (row.workload, row.cellID) = (sample.cell.workload, sample.cell.id)
            (row.backend, row.side) = (sample.backend, sample.side?.rawValue ?? "")
            row.sampleID = id
            (row.stage, row.operationClass) = (histogram.stage, histogram.operationClass)
            (row.upperBoundsNanoseconds, row.counts) = (buckets.map(\.upperBound), buckets.map(\.count))
            return row
        }
    }
}
