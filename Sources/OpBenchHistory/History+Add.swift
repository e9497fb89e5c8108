import GRDB
import OpBenchAnalysis
import OpBenchModel

extension History {
    /// The result of adding a run.
    public enum Addition: Sendable {
        case added, replaced
        /// The same run exists already.
        case known
        /// Another run with that id exists and is not to be replaced.
        case refused
    }

    /// The result that adding a run would have.
    public func prospect(of run: HistoryRun) throws -> Addition {
        try read { try Self.prospect(of: run, isReplacing: false, $0).addition }
    }

    /// Adds a run, in whole or not at all.
    ///
    /// - Parameters:
    ///   - figures: the figures of the run's digest.
    ///   - isReplacing: whether a different run with that id is replaced.
    public func add(_ run: HistoryRun, figures: [RunFigure], isReplacing: Bool = false) throws -> Addition {
        try write { database in
            let (addition, other) = try Self.prospect(of: run, isReplacing: isReplacing, database)
            switch addition {
            case .known, .refused: return addition
            case .replaced:
                try database.execute(sql: "DELETE FROM figure WHERE run = ?", arguments: [other])
                try database.execute(sql: "DELETE FROM run WHERE id = ?", arguments: [other])
            case .added: break
            }
            try RunWriter(database).write(run, figures)
            return addition
        }
    }

    private static func prospect(
        of run: HistoryRun, isReplacing: Bool, _ database: Database
    ) throws -> (addition: Addition, other: Int64?) {
        let found = try Row.fetchOne(database, sql: "SELECT id, digest FROM run WHERE name = ?", arguments: [run.id])
        guard let found else { return (.added, nil) }
        let (id, digest) = (try found.integer("id") as Int64, try found.text("digest"))
        return (digest == run.digest ? .known : isReplacing ? .replaced : .refused, id)
    }
}

/// Writes runs into the tables, for one transaction.
private struct RunWriter {
    private let database: Database
    private let findCell, addCell, findSeries, addSeries, addFigure: Statement

    init(_ database: Database) throws {
        self.database = database
        findCell = try database.makeStatement(sql: "SELECT id FROM cell WHERE name = ?")
        addCell = try database.makeStatement(sql: "INSERT INTO cell (name) VALUES (?)")
        findSeries = try database.makeStatement(
            sql: """
                SELECT id FROM series WHERE metric = ? AND cell = ? AND backend = ? AND side = ? AND phase = ?
                AND operation_class = ? AND stat = ?
                """)
        addSeries = try database.makeStatement(
            sql: """
                INSERT INTO series (metric, cell, backend, side, phase, operation_class, stat)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """)
        addFigure = try database.makeStatement(
            sql: "INSERT INTO figure (series, run, value, low, high, samples) VALUES (?, ?, ?, ?, ?, ?)")
    }

    func write(_ run: HistoryRun, _ figures: [RunFigure]) throws {
        try database.execute(
            sql: """
                INSERT INTO run (
                    name, started_utc, commit_id, is_dirty, host_class, allocator, configuration, surroundings,
                    digest, cells, figures)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                run.id, run.startedUTC, run.commit, run.isDirty, run.host.hostClass, run.host.allocator,
                run.host.configuration, SurroundingsColumn.text(of: run.surroundings), run.digest,
                Set(figures.map(\.name.cellID)).count, figures.count,
            ])
        let id = database.lastInsertedRowID
        var cells: [String: Int64] = [:]
        for figure in figures {
            let name = figure.name
            let cell = try cells[name.cellID] ?? place(of: [name.cellID], findCell, addCell)
            cells[name.cellID] = cell
            let series = try place(
                of: [
                    name.metric, cell, name.backend.rawValue, name.side, name.phase, name.operationClass, name.stat,
                ], findSeries, addSeries)
            try addFigure.execute(arguments: [series, id, figure.value, figure.low, figure.high, figure.samples])
        }
    }

    /// The id of the entry with these arguments, which is made if it does not exist.
    private func place(of arguments: StatementArguments, _ find: Statement, _ add: Statement) throws -> Int64 {
        if let id = try Int64.fetchOne(find, arguments: arguments) { return id }
        try add.execute(arguments: arguments)
        return database.lastInsertedRowID
    }
}
