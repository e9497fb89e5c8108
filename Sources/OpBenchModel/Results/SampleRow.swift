/// One row of `samples.csv`: one figure of one process. The columns are `SampleRow.columns`, in that order.
public struct SampleRow: Sendable, Hashable {
    public var runID: String
    /// A number and the kind of sample, `00123-throughput`; `00123r-throughput` for a repetition.
    public var sampleID: String
    /// ISO 8601, UTC.
    public var timestampUTC: String
    /// The machine that took the sample; empty in files without it.
    public var host: String
    public var workload: String
    public var cellID: String
    public var backend: BackendID
    /// `base` or `head` if two builds are compared; else empty.
    public var side: String
    /// The seed of the sample program's layout; nil for the linker's own order.
    public var layout: Int?
    /// The block, from 0 within the cell and kind, and the position within the block's random order, from 0.
    public var block: Int
    public var position: Int
    /// `build`, `submit`, `drain`, `teardown`, `total`, `makespan`, `warmup` or `mark:<name>`; empty for figures
    /// without a phase.
    public var phase: String
    /// The warm-up iteration; nil in rows of the whole sample.
    public var iteration: Int?
    /// The class of operations, as `priority=high` or `thread_priority=0.5`; empty for all operations.
    public var operationClass: String
    public var status: SampleStatus
    /// A file joins them by `;`.
    public var flags: [SampleFlag]
    public var metric: String
    /// `total`, `rate`, `mean`, `p50`, `p90`, `p99`, `p99.9` or `max`.
    public var stat: String
    /// Nil only in a row that reports a status without a figure (metric `status`).
    public var value: Double?
    /// Operations counted by this sample.
    public var operations: Int
    public var notes: String
    /// Every parameter of the cell, by name, as text.
    public var parameters: [String: String]

    public init(
        runID: String, sampleID: String, timestampUTC: String, host: String = "", workload: String, cellID: String,
        backend: BackendID, side: String = "", layout: Int? = nil, block: Int, position: Int, phase: String = "",
        iteration: Int? = nil, operationClass: String = "", status: SampleStatus, flags: [SampleFlag] = [],
        metric: String, stat: String, value: Double?, operations: Int, notes: String = "", parameters: [String: String]
    ) {
        self.runID = runID
        self.sampleID = sampleID
        self.timestampUTC = timestampUTC
        self.host = host
        self.workload = workload
        self.cellID = cellID
        self.backend = backend
        self.side = side
        self.layout = layout
        self.block = block
        self.position = position
        self.phase = phase
        self.iteration = iteration
        self.operationClass = operationClass
        self.status = status
        self.flags = flags
        self.metric = metric
        self.stat = stat
        self.value = value
        self.operations = operations
        self.notes = notes
        self.parameters = parameters
    }
}

extension SampleRow {
    /// The flavour of the sample, by the id; nil in a row about a backend that runs no sample.
    public var flavour: SampleFlavour? { SampleFlavour(ofSample: sampleID) }
    public var kind: SampleKind? { flavour?.kind }
}

extension SampleRow: CSVRow {
    public static let fileName = "samples.csv"
    public static let hasParameters = true

    public static let columnList: [CSVColumn<SampleRow>] = [
        .schemaVersion, .init("run_id", \.runID), .init("sample_id", \.sampleID),
        .init("timestamp_utc", \.timestampUTC), .init("host", \.host), .init("workload", \.workload),
        .init("cell_id", \.cellID),
        .init("backend", \.backend), .init("side", \.side), .init("layout", \.layout), .init("block", \.block),
        .init("position", \.position),
        .init("phase", \.phase), .init("iteration", \.iteration), .init("operation_class", \.operationClass),
        .init("status", \.status), .flags(\.flags), .init("metric", \.metric), .init("stat", \.stat),
        value,
        .init(derived: "unit") { Metric.named($0.metric)?.unit.rawValue ?? unknownMetric },
        .init(derived: "direction") { Metric.named($0.metric)?.direction.rawValue ?? unknownMetric },
        .init(derived: "deterministic") { String(Metric.named($0.metric)?.isDeterministic ?? false) },
        operations, .init("notes", \.notes),
    ]

    private static let value = CSVColumn<SampleRow>("value", \.value).expecting { row in
        guard let value = row.value, let metric = Metric.named(row.metric), !metric.allows(value) else { return nil }
        return metric.allowed
    }

    private static let operations = CSVColumn<SampleRow>("operations", \.operations).expecting { row in
        row.operations > 0 || row.value == nil || Metric.named(row.metric)?.basis != .operation
            ? nil : "a whole number from 1"
    }

    private static let unknownMetric = "a metric of the catalogue"

    public static let blank = SampleRow(
        runID: "", sampleID: "", timestampUTC: "", workload: "", cellID: "", backend: .engine, block: 0, position: 0,
        status: .ok, metric: "", stat: "", value: nil, operations: 0, parameters: [:])
}

/// One of two interleaved builds.
public enum Side: String, CaseIterable, Sendable, Codable {
    /// The reference.
    case base
    /// The judged build.
    case head
}
