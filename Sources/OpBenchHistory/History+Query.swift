import GRDB
import OpBenchModel

extension History {
    /// Which figures are asked for. What is left at its default asks for all.
    public struct Query {
        public var isWantedCell: (String) -> Bool = { _ in true }
        public var metrics: Set<String>?
        public var backends: Set<BackendID>?
        /// Whether only times are wanted that stand for a whole cell: of its total phase and of all its operations.
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

    /// All runs, in the order of time.
    public func entries() throws -> [Entry] {
        try read { database in
            try Self.rows(database).map { row in
                Entry(run: try Self.run(row), cells: try row.integer("cells"), figures: try row.integer("figures"))
            }
        }
    }

    /// The metrics and the backends of which there are figures, sorted.
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

    /// The figures over time, sorted by name: one series for each kind of host that they were measured on.
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
            digest: try row.text("digest"))
    }

    private static func names(_ query: Query, _ database: Database) throws -> [(Int64, FigureName)] {
        let cells = try Row.fetchAll(database, sql: "SELECT id, name FROM cell")
            .reduce(into: [Int64: String]()) { cells, row in
                let name = try row.text("name")
                if query.isWantedCell(name) { cells[try row.integer("id")] = name }
            }
        // The index of series begins with the metric.
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

    /// Parted by the kinds of hosts, of which the one with the latest run comes last.
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
