/// One row of `figures.csv`, to which `scripts/engine-goals --keep` reduces the samples of a run that git keeps: fewer
/// rows and columns than `samples.csv`.
public struct KeptRow: Sendable {
    /// Without its time stamp, its place in the block and its notes.
    public var sample: SampleRow

    public init(sample: SampleRow) { self.sample = sample }

    public var parameters: [String: String] {
        get { sample.parameters }
        set { sample.parameters = newValue }
    }
}

extension KeptRow: CSVRow {
    public static let fileName = "figures.csv"
    public static let hasParameters = true

    public static let columnList: [CSVColumn<KeptRow>] = [
        .schemaVersion, .init("run_id", \.sample.runID), .init("workload", \.sample.workload),
        .init("cell_id", \.sample.cellID), .init("backend", \.sample.backend),
        .init("operation_class", \.sample.operationClass), .init("status", \.sample.status),
        .init("sample_id", \.sample.sampleID), .init("side", \.sample.side), .init("block", \.sample.block),
        .init("phase", \.sample.phase), .init("iteration", \.sample.iteration), flagsColumn,
        .init("metric", \.sample.metric), .init("stat", \.sample.stat), .init("value", \.sample.value),
        .init("operations", \.sample.operations),
    ]

    private static let flagsColumn = CSVColumn<KeptRow>(
        name: "sample_flags", write: { SampleRow.flagsColumn.write($0.sample) },
        read: { row, text in SampleRow.flagsColumn.read(&row.sample, text) })

    public static func columns(of version: SchemaVersion) -> [CSVColumn<KeptRow>] {
        version == .one ? columnList.former(names: SampleRow.formerNames) : columnList
    }

    public mutating func convert(from version: SchemaVersion) { sample.convert(from: version) }

    public static let blank = KeptRow(sample: .blank)
}
