/// One row of `opbench history`: one figure of one run. Rows of one host class, allocator, build, cell, backend, side,
/// metric, phase, class and stat are one series, in order of time.
public struct TrendRow: Sendable, Hashable {
    public var name: FigureName
    public var runID: String
    /// ISO 8601, UTC.
    public var startedUTC: String
    /// The commit that the program was built from; empty if unknown.
    public var commit: String
    /// Whether files differed from the commit.
    public var isDirty: Bool
    public var host: HostKind
    /// In the unit of the metric, per operation or round if the metric is counted so.
    public var value: Double?
    public var low: Double?
    public var high: Double?
    public var samples: Int
    /// The change at this run: the mean from here to the next change ÷ the mean back to the previous change; nil at
    /// other runs, and where something around the code changed as well.
    public var change: Double?
    /// The facts around the code that changed at this run: `compiler: A → B`, joined by `; `.
    public var surroundings: String
    /// Like `change`, at a run where something around the code changed.
    public var surroundingsChange: Double?

    public init(
        name: FigureName, runID: String, startedUTC: String, commit: String, isDirty: Bool, host: HostKind,
        value: Double?,
        low: Double?, high: Double?, samples: Int, change: Double? = nil, surroundings: String = "",
        surroundingsChange: Double? = nil
    ) {
        self.name = name
        self.runID = runID
        self.startedUTC = startedUTC
        self.commit = commit
        self.isDirty = isDirty
        self.host = host
        self.value = value
        self.low = low
        self.high = high
        self.samples = samples
        self.change = change
        self.surroundings = surroundings
        self.surroundingsChange = surroundingsChange
    }
}

extension TrendRow: CSVRow {
    public static let fileName = "trend.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<TrendRow>] = [
        .init("host_class", \.host.hostClass), .init("allocator", \.host.allocator),
        .init("configuration", \.host.configuration), .init("cell_id", \.name.cellID),
        .init("backend", \.name.backend), .init("side", \.name.side), .init("metric", \.name.metric),
        .init("phase", \.name.phase), .init("operation_class", \.name.operationClass), .init("stat", \.name.stat),
        .init(derived: "unit") { $0.name.unit.rawValue }, .init(derived: "direction") { $0.name.direction.rawValue },
        .init("started_utc", \.startedUTC), .init("run_id", \.runID), .init("commit", \.commit),
        dirtyColumn, .init("value", \.value), .init("ci_low", \.low), .init("ci_high", \.high),
        .init("samples", \.samples), .init("change", \.change), .init("surroundings", \.surroundings),
        .init("surroundings_change", \.surroundingsChange),
    ]

    private static let dirtyColumn = CSVColumn<TrendRow>(
        name: "dirty", write: { String($0.isDirty) },
        read: { row, text in
            row.isDirty = text == "true"
            return ["true", "false"].contains(text) ? nil : "true or false"
        })

    public static let blank = TrendRow(
        name: FigureName(cellID: "", backend: .engine, metric: "", phase: "", stat: ""), runID: "", startedUTC: "",
        commit: "", isDirty: false, host: HostKind(hostClass: "", allocator: "", configuration: ""), value: nil,
        low: nil, high: nil, samples: 0)
}
