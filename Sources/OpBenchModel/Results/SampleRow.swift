/// One row of `samples.csv`: one figure of one process. The columns are `SampleRow.columns`, in that order.
public struct SampleRow: Sendable, Hashable {
    public var runID = ""
    /// A number and the kind of sample, `00123-throughput`; `00123r-throughput` for a repetition.
    public var sampleID = ""
    /// ISO 8601, UTC.
    public var timestampUTC = ""
    /// The machine that took the sample; empty in files without it.
    public var host = ""
    public var workload = ""
    public var cellID = ""
    public var backend = BackendID.engine
    /// `base` or `head` if two builds are compared; else empty.
    public var side = ""
    /// The seed of the sample program's layout; nil for the linker's own order.
    public var layout: Int?
    /// The block, from 0 within the cell and kind, and the position within the block's random order, from 0.
    public var block = 0
    public var position = 0
    /// `build`, `submit`, `drain`, `teardown`, `total`, `makespan`, `warmup` or `mark:<name>`; empty for figures
    /// without a phase.
    public var phase = ""
    /// The warm-up iteration; nil in rows of the whole sample.
    public var iteration: Int?
    /// The class of operations, as `priority=high` or `thread_priority=0.5`; empty for all operations.
    public var operationClass = ""
    public var status = SampleStatus.ok
    /// A file joins them by `;`.
    public var flags: [SampleFlag] = []
    public var metric = ""
    /// `total`, `rate`, `mean`, `p50`, `p90`, `p99`, `p99.9` or `max`.
    public var stat = ""
    /// Nil only in a row that reports a status without a figure (metric `status`).
    public var value: Double?
    /// Operations counted by this sample.
    public var operations = 0
    public var notes = ""
    /// Every parameter of the cell, by name, as text.
    public var parameters: [String: String] = [:]

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

    public static let blank = SampleRow()
}

/// One of two interleaved builds.
public enum Side: String, CaseIterable, Sendable, Codable {
    /// The reference.
    case base
    /// The judged build.
    case head
}
