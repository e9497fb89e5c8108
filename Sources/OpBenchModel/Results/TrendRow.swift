/// One row of `opbench history trend`: one figure of one run. Rows of one host class, allocator, build, cell, backend,
/// side, metric, phase, class and stat are one series, in order of time.
public struct TrendRow: Sendable, Hashable {
    public var recorded: HistoryRow
    /// The change at this run: the mean from here to the next change ÷ the mean back to the previous change; nil at
    /// other runs, and where something around the code changed as well.
    public var change: Double?
    /// The facts around the code that changed at this run: `compiler: A → B`, joined by `; `.
    public var surroundings: String
    /// Like `change`, at a run where something around the code changed.
    public var surroundingsChange: Double?

    public init(
        _ recorded: HistoryRow, change: Double? = nil, surroundings: String = "", surroundingsChange: Double? = nil
    ) {
        self.recorded = recorded
        self.change = change
        self.surroundings = surroundings
        self.surroundingsChange = surroundingsChange
    }
}

extension TrendRow: CSVRow {
    public static let fileName = "trend.csv"
    public static let hasParameters = false
    public static let isExport = true

    public static let columnList: [CSVColumn<TrendRow>] =
        HistoryRow.figureColumns.map { .init($0, of: \.recorded) } + [
            .init("change", \.change), .init("surroundings", \.surroundings),
            .init("surroundings_change", \.surroundingsChange),
        ]

    public static let blank = TrendRow(HistoryRow())
}
