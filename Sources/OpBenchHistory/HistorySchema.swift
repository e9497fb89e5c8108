import Foundation
import GRDB
import OpBenchModel

/// The tables of a history. All their content is derived from the runs' rows, so there is no migration: a database of
/// another version is rebuilt.
enum HistorySchema {
    /// Marks the file as opbench's: `opbh` in ASCII.
    static let application = 0x6F70_6268
    /// Incremented with every change of the tables or of their meaning.
    static let version = 2

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
            surroundings TEXT NOT NULL,
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

    /// The statements of the tables as SQLite stores them, on one line each.
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

    /// Whether the file's header has opbench's mark, at byte 68 of SQLite's format; it may be damaged otherwise.
    static func isOwn(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path), let header = try? file.read(upToCount: 72),
            header.count == 72, header.starts(with: Data("SQLite format 3\0".utf8))
        else { return false }
        return header.suffix(4).reduce(0) { $0 << 8 | Int($1) } == application
    }

    /// - Returns: false if there are no tables yet.
    /// - Throws: `InputError` if the database is not a history of this version.
    @discardableResult
    static func check(_ database: Database, _ path: String) throws -> Bool {
        switch try state(of: database) {
        case current:
            guard try hasTables(database) else {
                throw HistoryFailure.foreign(path, "the database does not have opbench's tables")
            }
            return true
        case .empty: return false
        case .foreign: throw HistoryFailure.foreign(path, "this is another program's database")
        case .ours(let other):
            throw HistoryFailure.foreign(
                path, "the database has tables of version \(other); this opbench needs version \(version)")
        }
    }

    /// Whether the tables match those of `make`. In a forged file a name may be something else: an endless view, or a
    /// table with triggers. Additional tables are allowed.
    private static func hasTables(_ database: Database) throws -> Bool {
        let found = try Row.fetchAll(database, sql: "SELECT type, sql FROM sqlite_master")
        var missing = statements
        for entry in found {
            if try entry.optionalText("type") == "trigger" { return false }
            if let statement = try entry.optionalText("sql") { missing.remove(onOneLine(statement)) }
        }
        return missing.isEmpty
    }

    /// Whether every page of the file is valid; takes time linear in the file's size.
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
