import GRDB
import OpBenchModel

extension History {
    /// The figures to select; the defaults select all.
    public struct Query {
        public var isWantedCell: (String) -> Bool = { _ in true }
        public var metrics: Set<String>?
        public var backends: Set<BackendID>?
        /// Whether only times of a whole cell are wanted: of the total phase and of all operations.
        public var isHeadlineOnly = false

        public init() {}

        func isWanted(_ name: FigureName) -> Bool {
            if let metrics, !metrics.contains(name.metric) { return false }
            if let backends, !backends.contains(name.backend) { return false }
            if isHeadlineOnly, name.phase != "total" || !name.operationClass.isEmpty { return false }
            return true
        }
    }

    /// A run with the number of its cells and figures.
    public struct Entry: Sendable {
        public var run: HistoryRun
        public var cells: Int
        public var figures: Int
    }

    /// All runs, in order of time.
    public func entries() throws -> [Entry] {
        try read { database in
            try Self.rows(database).map { row in
                Entry(run: try Self.run(row), cells: try row.integer("cells"), figures: try row.integer("figures"))
            }
        }
    }

    /// The metrics and the backends that have figures, sorted.
    public func names() throws -> (metrics: [String], backends: [BackendID]) {
        try read { database in
            (
                try String.fetchAll(database, sql: "SELECT DISTINCT metric FROM series ORDER BY metric")
                    .map(Row.checked),
                try String.fetchAll(database, sql: "SELECT DISTINCT backend FROM series ORDER BY backend")
                    .map { BackendID(rawValue: try Row.checked($0)) }
            )
        }
    }

    /// The figures over time, sorted by name: one series for each kind of host.
    public func series(_ query: Query = Query()) throws -> [TrendSeries] {
        try read { database in
            let runs = try Self.rows(database).reduce(into: [Int64: HistoryRun]()) { runs, row in
                runs[try row.integer("id")] = try Self.run(row)
            }
            let figures = try database.makeStatement(
                sql: "SELECT run, value, low, high, samples FROM figure WHERE series = ?")
            return try Self.names(query, database).flatMap { id, name in
                try Self.series(name, of: Row.fetchAll(figures, arguments: [id]), runs)
            }
        }
    }

    private static func rows(_ database: Database) throws -> [Row] {
        try Row.fetchAll(database, sql: "SELECT * FROM run ORDER BY started_utc, name")
    }

    private static func run(_ row: Row) throws -> HistoryRun {
        HistoryRun(
            id: try row.text("name"), startedUTC: try row.text("started_utc"),
            commit: try row.optionalText("commit_id"), isDirty: try row.flag("is_dirty"),
            host: HostKind(
                hostClass: try row.text("host_class"), allocator: try row.text("allocator"),
                configuration: try row.text("configuration")),
            surroundings: try row.surroundings("surroundings"), digest: try row.text("digest"))
    }

    private static func names(_ query: Query, _ database: Database) throws -> [(Int64, FigureName)] {
        let cells = try Row.fetchAll(database, sql: "SELECT id, name FROM cell")
            .reduce(into: [Int64: String]()) { cells, row in
                let name = try row.text("name")
                if query.isWantedCell(name) { cells[try row.integer("id")] = name }
            }
        // The index of `series` begins with the metric.
        let metrics = query.metrics.map(Array.init) ?? []
        let condition = query.metrics == nil ? "" : "WHERE metric IN (\(databaseQuestionMarks(count: metrics.count)))"
        var names: [(Int64, FigureName)] = []
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM series \(condition)", arguments: StatementArguments(metrics))
        while let row = try rows.next() {
            guard let cell = cells[try row.integer("cell")] else { continue }
            let name = FigureName(
                cellID: cell, backend: BackendID(rawValue: try row.text("backend")), side: try row.text("side"),
                metric: try row.text("metric"), phase: try row.text("phase"),
                operationClass: try row.text("operation_class"), stat: try row.text("stat"))
            if query.isWanted(name) { names.append((try row.integer("id"), name)) }
        }
        return names.sorted { $0.1 < $1.1 }
    }

    /// Split by kind of host; the kind with the latest run comes last.
    private static func series(
        _ name: FigureName, of rows: [Row], _ runs: [Int64: HistoryRun]
    ) throws -> [TrendSeries] {
        let points = try rows.compactMap { row -> TrendSeries.Point? in
            guard let run = runs[try row.integer("run")] else { return nil }
            return TrendSeries.Point(
                run: run, value: try row.figure("value"), low: try row.optionalFigure("low"),
                high: try row.optionalFigure("high"), samples: try row.integer("samples"))
        }.sorted { ($0.run.startedUTC, $0.run.id) < ($1.run.startedUTC, $1.run.id) }
        return Dictionary(grouping: points, by: \.run.host)
            .map { TrendSeries(name: name, host: $0, points: $1) }
            .sorted { $0.points.last!.run.startedUTC < $1.points.last!.run.startedUTC }
    }
}

/// The values of a row, with the types of the tables. A damaged or forged file may have none, or others;
/// `row["column"]` would trap.
///
/// - Throws: `RowDecodingError` or `DatabaseError`, which `HistoryFailure` translates.
extension Row {
    /// A number that opbench counted or gave, which is not negative.
    func integer<Number: DatabaseValueConvertible & FixedWidthInteger>(_ column: String) throws -> Number {
        let number: Number = try decode(forColumn: column)
        guard number >= 0 else { throw Self.damage }
        return number
    }

    func flag(_ column: String) throws -> Bool { try decode(forColumn: column) }

    /// A figure, which must be finite.
    func figure(_ column: String) throws -> Double {
        guard let figure = try optionalFigure(column) else { throw Self.damage }
        return figure
    }

    func optionalFigure(_ column: String) throws -> Double? {
        let figure: Double? = try decode(forColumn: column)
        guard figure?.isFinite ?? true else { throw Self.damage }
        return figure
    }

    /// Text within the length limit of rows, so that comparing and hashing stay fast.
    func text(_ column: String) throws -> String {
        guard let text = try optionalText(column) else { throw Self.damage }
        return text
    }

    func surroundings(_ column: String) throws -> [String: Surroundings] {
        let text: String = try decode(forColumn: column)
        guard let surroundings = SurroundingsColumn.read(text) else { throw Self.damage }
        return surroundings
    }

    func optionalText(_ column: String) throws -> String? {
        try (decode(forColumn: column) as String?).map(Self.checked)
    }

    static func checked(_ text: String) throws -> String {
        guard text.utf8.count <= CSVFile.fieldLimit, StreamSafeText.holds(text) else { throw damage }
        return text
    }

    private static var damage: DatabaseError { DatabaseError(resultCode: .SQLITE_CORRUPT) }
}

/// One figure over the runs of one kind of host, in order of time.
public struct TrendSeries: Sendable, Hashable {
    /// The figure of one run.
    public struct Point: Sendable, Hashable {
        public var run: HistoryRun
        public var value: Double
        public var low: Double?
        public var high: Double?
        public var samples: Int
        /// The change at this point: the mean from here to the next change ÷ the mean back to the previous change; nil
        /// at other points.
        public var change: Double?
        /// The facts around the code that differ from those of the runs before.
        public internal(set) var surroundingChanges: [SurroundingChange] = []

        /// Whether the figure changed while nothing known around the code did. If something did, the change may be of
        /// either.
        public var isChangeOfCode: Bool { change != nil && surroundingChanges.isEmpty }

        public init(
            run: HistoryRun, value: Double, low: Double? = nil, high: Double? = nil, samples: Int, change: Double? = nil
        ) {
            self.run = run
            self.value = value
            self.low = low
            self.high = high
            self.samples = samples
            self.change = change
        }
    }

    public var name: FigureName
    /// The host of all the runs: figures of different hosts are not comparable.
    public var host: HostKind
    public var points: [Point]

    public init(name: FigureName, host: HostKind, points: [Point]) {
        self.name = name
        self.host = host
        self.points = points
        markSurroundings()
    }

    /// A run that does not know a fact neither starts nor ends a change of it.
    private mutating func markSurroundings() {
        var known = Surroundings()
        for index in points.indices {
            let run = points[index].run
            let own = run.surroundings[name.side] ?? run.surroundings[""] ?? Surroundings()
            points[index].surroundingChanges = known.changes(to: own)
            known.update(by: own)
        }
    }

    /// Whether a change by that factor is for the worse; nil for a figure without a direction.
    public func isWorse(_ change: Double) -> Bool? {
        switch name.direction {
        case .lower: change > 1
        case .higher: change < 1
        case .neutral: nil
        }
    }

    /// One row per point.
    public var rows: [TrendRow] {
        points.map { point in
            TrendRow(
                name: name, runID: point.run.id, startedUTC: point.run.startedUTC, commit: point.run.commit ?? "",
                isDirty: point.run.isDirty, host: host, value: point.value, low: point.low, high: point.high,
                samples: point.samples, change: point.isChangeOfCode ? point.change : nil,
                surroundings: point.surroundingChanges.lines.joined(separator: "; "),
                surroundingsChange: point.isChangeOfCode ? nil : point.change)
        }
    }
}
