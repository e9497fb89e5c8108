/// One row of `summary.csv`: what the samples of one cell, backend and class say together. A figure that no sample
/// reports is nil and its field empty.
public struct SummaryRow: Sendable, Hashable {
    public var runID: String
    public var workload: String
    public var cellID: String
    public var backend: BackendID
    /// Empty for the whole, or what the figures are restricted to: `priority=high`.
    public var operationClass: String
    /// `base` or `head` where two builds are compared, else empty.
    public var side = ""
    public var status: SampleStatus
    /// How good the samples of the backend are, whatever the class. Not a column: unknown of a row that was read.
    public var quality: SampleQuality?
    /// The flags of the backend's samples of all classes, each one once.
    public var flags: [String] = []
    /// Samples behind the row: the throughput samples, or where there are none, those of the kind with the most.
    public var samples: Int

    /// The interval of a figure; nil where there are too few samples for one.
    public struct Bounds: Sendable, Hashable {
        public var low: Double?
        public var high: Double?

        public init(low: Double? = nil, high: Double? = nil) { (self.low, self.high) = (low, high) }
    }

    /// Total time per operation in nanoseconds, the median over samples, and its 95 % interval.
    public var timePerOperation: Double?
    public var timePerOperationLow: Double?
    public var timePerOperationHigh: Double?
    /// Operations ÷ total time, and the 95 % interval of the median over samples.
    public var operationsPerSecond: Double?
    public var operationsPerSecondLow: Double?
    public var operationsPerSecondHigh: Double?
    /// Items ÷ total time.
    public var itemsPerSecond: Double?
    /// Total time per operation ÷ that of `ratioTo`, and its 95 % interval over blocks. Below 1 is faster.
    public var timeRatio: Double?
    public var timeRatioLow: Double?
    public var timeRatioHigh: Double?
    /// The backend that `timeRatio` is relative to; nil where there is no ratio.
    public var ratioTo: BackendID?
    /// Whether one of the two backends does not promise what the shape is about, or they are on different axes, so that
    /// they did different things. This is no column, since the rows' flags say it.
    public var isRatioUnlike = false
    /// Submit and drain of one round.
    public var makespanNanoseconds: Double?
    /// What work and span allow ÷ makespan, in shapes with dependencies and work.
    public var schedulingEfficiency: Double?
    /// The makespan ÷ the ideal one, where operations block.
    public var makespanRatio: Double?
    /// The cancelling calls' time per operation to be cancelled, and drain and teardown of operations that all waited
    /// at once, per operation; in nanoseconds.
    public var cancelPerOperation: Double?
    public var releasePerOperation: Double?
    /// Page faults of those two.
    public var releaseFaultsPerOperation: Double?
    /// Ready → start, in nanoseconds. This and the others beside which bounds stand: the median over samples, and its 95 %
    /// interval.
    public var startLatencyP50: Double?
    public var startLatencyP50Bounds = Bounds()
    public var startLatencyP90: Double?
    public var startLatencyP99: Double?
    public var startLatencyP99Bounds = Bounds()
    public var startLatencyP999: Double?
    public var startLatencyMax: Double?
    /// Ready → end, in nanoseconds.
    public var endLatencyP50: Double?
    public var endLatencyP50Bounds = Bounds()
    public var endLatencyP99: Double?
    public var endLatencyP99Bounds = Bounds()
    /// Just before the submitting call → start, in nanoseconds.
    public var submitLatencyP50: Double?
    public var submitLatencyP50Bounds = Bounds()
    public var submitLatencyP99: Double?
    public var submitLatencyP99Bounds = Bounds()
    /// The instant at which the plan has an operation arrive → end, in nanoseconds.
    public var intendedLatencyP50: Double?
    public var intendedLatencyP50Bounds = Bounds()
    public var intendedLatencyP99: Double?
    public var intendedLatencyP99Bounds = Bounds()
    public var intendedLatencyP999: Double?
    /// Just before the submitting call → end, in nanoseconds, where the plan has a pace.
    public var serviceLatencyP50: Double?
    public var serviceLatencyP50Bounds = Bounds()
    public var serviceLatencyP99: Double?
    public var serviceLatencyP99Bounds = Bounds()
    public var serviceLatencyP999: Double?
    /// How late the submitting thread was, in nanoseconds.
    public var submitLagP99: Double?
    /// The highest rate of arrivals found that keeps the workload's bound, per second.
    public var sustainedRate: Double?
    /// Operations that arrived, and that ended, per second, from the first arrival of an open loop to the last.
    public var arrivalRate: Double?
    public var completionRate: Double?
    /// The highest rate of arrivals that the backend keeps up with. A load is a part of this rate.
    public var capacity: Double?
    /// End → completion block entered, in nanoseconds.
    public var notifyLatencyP50: Double?
    public var notifyLatencyP99: Double?
    /// Time of rounds with time stamps ÷ that of rounds without.
    public var selfPerturbation: Double?
    /// CPU time of the process per operation, in nanoseconds, its context switches and page faults.
    public var cpuPerOperation: Double?
    public var voluntarySwitchesPerOperation: Double?
    public var involuntarySwitchesPerOperation: Double?
    public var pageFaultsPerOperation: Double?
    /// Futex calls per operation, and all threads that the backend made.
    public var futexCallsPerOperation: Double?
    public var threadsCreated: Double?
    /// Mallocs and the bytes requested from malloc, per operation.
    public var allocationsPerOperation: Double?
    public var allocatedBytesPerOperation: Double?
    /// Bytes in use per operation when all are submitted and none has started.
    public var retainedBytesPerPendingOperation: Double?
    /// Bytes still in use when everything was released.
    public var unreleasedBytes: Double?
    /// The process's greatest resident size, in bytes.
    public var peakResidentBytes: Double?
    /// Operations of one round that started past a higher ready one.
    public var inversions: Double?
    /// Starts of one round after suspend had returned, within the hold.
    public var startsAfterSuspend: Double?
    /// Suspend returned → last start within the hold, in nanoseconds.
    public var quiesceP99: Double?
    /// Resume called → first start, in nanoseconds.
    public var resumeToStartP99: Double?

    /// Every parameter of the cell, by name, as text.
    public var parameters: [String: String]

    /// A row without any figure.
    public init(
        runID: String, workload: String, cellID: String, backend: BackendID, operationClass: String = "",
        status: SampleStatus, samples: Int, parameters: [String: String]
    ) {
        self.runID = runID
        self.workload = workload
        self.cellID = cellID
        self.backend = backend
        self.operationClass = operationClass
        self.status = status
        self.samples = samples
        self.parameters = parameters
    }
}

extension SummaryRow: CSVRow {
    public static let fileName = "summary.csv"
    public static let hasParameters = true
    public static let isExport = true

    public static let columnList: [CSVColumn<SummaryRow>] = [
        .schemaVersion, .init("run_id", \.runID), .init("workload", \.workload), .init("cell_id", \.cellID),
        .init("backend", \.backend), .init("operation_class", \.operationClass), .init("side", \.side),
        .init("status", \.status), flagsColumn, .init(derived: "axis") { Axis($0.flags)?.rawValue ?? "" },
        .init("samples", \.samples),
        .init("time_ns_per_op", \.timePerOperation),
        .init("time_ns_per_op_ci_low", \.timePerOperationLow),
        .init("time_ns_per_op_ci_high", \.timePerOperationHigh),
        .init("throughput_ops_per_s", \.operationsPerSecond),
        .init("throughput_ops_per_s_ci_low", \.operationsPerSecondLow),
        .init("throughput_ops_per_s_ci_high", \.operationsPerSecondHigh),
        .init("throughput_items_per_s", \.itemsPerSecond),
        .init("time_ratio", \.timeRatio),
        .init("time_ratio_ci_low", \.timeRatioLow),
        .init("time_ratio_ci_high", \.timeRatioHigh),
        .init(optional: "ratio_to", \.ratioTo),
        .init("makespan_ns", \.makespanNanoseconds),
        .init("scheduling_efficiency", \.schedulingEfficiency),
        .init("makespan_ratio", \.makespanRatio),
        .init("cancel_ns_per_op", \.cancelPerOperation),
        .init("release_ns_per_op", \.releasePerOperation),
        .init("release_page_faults_per_op", \.releaseFaultsPerOperation),
        .init("start_latency_p50_ns", \.startLatencyP50),
        .init("start_latency_p50_ns_ci_low", \.startLatencyP50Bounds.low),
        .init("start_latency_p50_ns_ci_high", \.startLatencyP50Bounds.high),
        .init("start_latency_p90_ns", \.startLatencyP90),
        .init("start_latency_p99_ns", \.startLatencyP99),
        .init("start_latency_p99_ns_ci_low", \.startLatencyP99Bounds.low),
        .init("start_latency_p99_ns_ci_high", \.startLatencyP99Bounds.high),
        .init("start_latency_p999_ns", \.startLatencyP999),
        .init("start_latency_max_ns", \.startLatencyMax),
        .init("end_latency_p50_ns", \.endLatencyP50),
        .init("end_latency_p50_ns_ci_low", \.endLatencyP50Bounds.low),
        .init("end_latency_p50_ns_ci_high", \.endLatencyP50Bounds.high),
        .init("end_latency_p99_ns", \.endLatencyP99),
        .init("end_latency_p99_ns_ci_low", \.endLatencyP99Bounds.low),
        .init("end_latency_p99_ns_ci_high", \.endLatencyP99Bounds.high),
        .init("submit_latency_p50_ns", \.submitLatencyP50),
        .init("submit_latency_p50_ns_ci_low", \.submitLatencyP50Bounds.low),
        .init("submit_latency_p50_ns_ci_high", \.submitLatencyP50Bounds.high),
        .init("submit_latency_p99_ns", \.submitLatencyP99),
        .init("submit_latency_p99_ns_ci_low", \.submitLatencyP99Bounds.low),
        .init("submit_latency_p99_ns_ci_high", \.submitLatencyP99Bounds.high),
        .init("intended_latency_p50_ns", \.intendedLatencyP50),
        .init("intended_latency_p50_ns_ci_low", \.intendedLatencyP50Bounds.low),
        .init("intended_latency_p50_ns_ci_high", \.intendedLatencyP50Bounds.high),
        .init("intended_latency_p99_ns", \.intendedLatencyP99),
        .init("intended_latency_p99_ns_ci_low", \.intendedLatencyP99Bounds.low),
        .init("intended_latency_p99_ns_ci_high", \.intendedLatencyP99Bounds.high),
        .init("intended_latency_p999_ns", \.intendedLatencyP999),
        .init("service_latency_p50_ns", \.serviceLatencyP50),
        .init("service_latency_p50_ns_ci_low", \.serviceLatencyP50Bounds.low),
        .init("service_latency_p50_ns_ci_high", \.serviceLatencyP50Bounds.high),
        .init("service_latency_p99_ns", \.serviceLatencyP99),
        .init("service_latency_p99_ns_ci_low", \.serviceLatencyP99Bounds.low),
        .init("service_latency_p99_ns_ci_high", \.serviceLatencyP99Bounds.high),
        .init("service_latency_p999_ns", \.serviceLatencyP999),
        .init("submit_lag_p99_ns", \.submitLagP99),
        .init("sustained_rate_per_s", \.sustainedRate),
        .init("arrival_rate_per_s", \.arrivalRate),
        .init("completion_rate_per_s", \.completionRate),
        .init("capacity_per_s", \.capacity),
        .init("notify_latency_p50_ns", \.notifyLatencyP50),
        .init("notify_latency_p99_ns", \.notifyLatencyP99),
        .init("self_perturbation", \.selfPerturbation),
        .init("cpu_ns_per_op", \.cpuPerOperation),
        .init("voluntary_switches_per_op", \.voluntarySwitchesPerOperation),
        .init("involuntary_switches_per_op", \.involuntarySwitchesPerOperation),
        .init("page_faults_per_op", \.pageFaultsPerOperation),
        .init("futex_calls_per_op", \.futexCallsPerOperation),
        .init("threads_created", \.threadsCreated),
        .init("allocations_per_op", \.allocationsPerOperation),
        .init("allocated_bytes_per_op", \.allocatedBytesPerOperation),
        .init("retained_bytes_per_pending_op", \.retainedBytesPerPendingOperation),
        .init("unreleased_bytes", \.unreleasedBytes),
        .init("peak_resident_bytes", \.peakResidentBytes),
        .init("inversions", \.inversions),
        .init("starts_after_suspend", \.startsAfterSuspend),
        .init("quiesce_p99_ns", \.quiesceP99),
        .init("resume_to_start_p99_ns", \.resumeToStartP99),
    ]

    private static let flagsColumn = CSVColumn<SummaryRow>(
        name: "sample_flags", write: { $0.flags.joined(separator: ";") },
        read: { row, text in
            row.flags = SampleRow.flags(text)
            return nil
        })

    public static let blank = SummaryRow(
        runID: "", workload: "", cellID: "", backend: .engine, status: .ok, samples: 0, parameters: [:])
}
