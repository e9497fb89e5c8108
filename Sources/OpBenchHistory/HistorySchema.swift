import GRDB
import OpBenchModel

/// The tables of a history. Everything in them follows from the runs' rows, so there is no migration: a database of another
/// version is made anew.
enum HistorySchema {
    /// Marks the file as opbench's: `opbh` in ASCII.
    static let application = 0x6F70_6268
    /// Rises with every change of the tables or of what they mean.
    static let version = 1

    private static let tables = """
        CREATE TABLE run (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            started_utc TEXT NOT NULL,
            commit_id TEXT,
            is_dirty INTEGER NOT NULL,
            host_class TEXT NOT NULL,
            allocator TEXT NOT NULL,
            configuration TEXT NOT NULL,
            digest TEXT NOT NULL,
            cells INTEGER NOT NULL,
            figures INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE cell (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE series (
            id INTEGER PRIMARY KEY,
            metric TEXT NOT NULL,
            phase TEXT NOT NULL,
            operation_class TEXT NOT NULL,
            stat TEXT NOT NULL,
            backend TEXT NOT NULL,
            side TEXT NOT NULL,
            cell INTEGER NOT NULL REFERENCES cell,
            UNIQUE (metric, cell, backend, side, phase, operation_class, stat)
        ) STRICT;
        CREATE TABLE figure (
            series INTEGER NOT NULL REFERENCES series,
            run INTEGER NOT NULL REFERENCES run,
            value REAL NOT NULL,
            low REAL,
            high REAL,
            samples INTEGER NOT NULL,
            PRIMARY KEY (series, run)
        ) STRICT, WITHOUT ROWID;
        """

    /// The statements by which SQLite keeps what was made, in whichever way they are broken into lines.
    private static let statements = Set(tables.split(separator: ";").map(onOneLine).filter { !$0.isEmpty })

    private static func onOneLine(_ statement: some StringProtocol) -> String {
        statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static let current = State.ours(version)

    private enum State: Equatable {
        case empty, foreign
        case ours(Int)
    }

    private static func state(of database: Database) throws -> State {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id")
        if application == Self.application {
            return .ours(try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0)
        }
        let entries = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        return application == 0 && entries == 0 ? .empty : .foreign
    }

    /// - Returns: false if there are no tables at all yet.
    /// - Throws: `InputError` if the database is no history of this version.
    @discardableResult
    static func check(_ database: Database, _ path: String) throws -> Bool {
        switch try state(of: database) {
        case current:
            guard try hasTables(database) else {
                throw HistoryFailure.foreign(path, "the database does not have the tables that opbench makes")
            }
            return true
        case .empty: return false
        case .foreign: throw HistoryFailure.foreign(path, "this is another program's database")
        case .ours(let other):
            throw HistoryFailure.foreign(
                path, "the database has version \(other) of the tables, and this opbench makes version \(version)")
        }
    }

    /// Whether the tables are those of `make`. A name may stand for something else in a forged file: a view without an end, or
    /// what a trigger answers to. Others may stand beside them.
    private static func hasTables(_ database: Database) throws -> Bool {
        let found = try Row.fetchAll(database, sql: "SELECT type, sql FROM sqlite_master")
        var missing = statements
        for entry in found {
            if try entry.optionalText("type") == "trigger" { return false }
            if let statement = try entry.optionalText("sql") { missing.remove(onOneLine(statement)) }
        }
        return missing.isEmpty
    }

    /// Whether every page of the file is what it has to be; in time by the file's size.
    static func isWhole(_ database: Database) throws -> Bool {
        try String.fetchOne(database, sql: "PRAGMA quick_check(1)") == "ok"
    }

    /// Makes the tables of an empty database. To be called within a transaction.
    static func make(_ database: Database) throws {
        try database.execute(sql: tables)
        try database.execute(sql: "PRAGMA application_id = \(application)")
        try database.execute(sql: "PRAGMA user_version = \(version)")
    }
}
