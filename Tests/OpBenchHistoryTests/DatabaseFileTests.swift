import Foundation
import GRDB
import OpBenchHistory
import OpBenchModel
import TestSupport
import Testing

/// Files that are not a history: each is refused with its reason, and left unchanged.
struct DatabaseFileTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: fixture.path)) }

    /// Expects that the file is refused, for reading and for adding, and that the folder is unchanged.
    ///
    /// - Parameter isOwn: whether it is a history, which may be removed.
    private func expectRefusal(
        _ reason: String, isOwn: Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = (try? fixture.bytes(), try fixture.names())
        for access in [History.Access.reading, .adding] {
            let error = #expect(throws: InputError.self, sourceLocation: sourceLocation) {
                let history = try History(fixture.path, for: access)
                // Damage further back shows when the series are read.
                _ = try history.series()
                try history.close()
            }
            #expect(error?.file == fixture.path, sourceLocation: sourceLocation)
            #expect(error?.remedy.contains("remove") == isOwn, sourceLocation: sourceLocation)
            Golden("history-files").expect(
                "\(error?.message ?? "none"); \(error?.remedy ?? "")", reason, sourceLocation: sourceLocation)
        }
        #expect((try? fixture.bytes()) == before.0, sourceLocation: sourceLocation)
        #expect(try fixture.names() == before.1, sourceLocation: sourceLocation)
    }

    @Test("a text file")
    func text() throws {
        try write(Data(String(repeating: "no database\n", count: 1000).utf8))
        try expectRefusal("a text file", isOwn: false)
    }

    @Test("another program's database")
    func foreign() throws {
        let queue = try DatabaseQueue(path: fixture.path)
        try queue.write { try $0.execute(sql: "CREATE TABLE run (id INTEGER)") }
        try queue.close()
        try expectRefusal("another program's database", isOwn: false)
    }

    @Test("another program's damaged database")
    func foreignDamage() throws {
        let queue = try DatabaseQueue(path: fixture.path)
        try queue.write { try $0.execute(sql: "CREATE TABLE run (id INTEGER)") }
        try queue.close()
        try write(fixture.bytes().prefix(512))
        try expectRefusal("another program's, damaged", isOwn: false)
    }

    @Test("a database of another version of the tables")
    func version() throws {
        try fixture.add("one", 1)
        let queue = try DatabaseQueue(path: fixture.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 77") }
        try queue.close()
        try expectRefusal("tables of version", isOwn: true)
    }

    @Test("a truncated database", arguments: [0.3, 0.6, 0.95])
    func truncated(part: Double) throws {
        try fixture.add("one", 1, (0..<500).map { Fixture.name(cell: "w items=\($0)") })
        let whole = try fixture.bytes()
        try write(whole.prefix(Int(Double(whole.count) * part) / 512 * 512))
        try expectRefusal("truncated or damaged", isOwn: true)
    }

    @Test("a database whose pages were overwritten")
    func damaged() throws {
        try fixture.add("one", 1, (0..<500).map { Fixture.name(cell: "w items=\($0)") })
        var whole = try fixture.bytes()
        whole.replaceSubrange(4096..<whole.count, with: Data(repeating: 0xA5, count: whole.count - 4096))
        try write(whole)
        try expectRefusal("truncated or damaged", isOwn: true)
    }

    /// Makes changes that the tables forbid.
    private func forge(_ body: (Database) throws -> Void) throws {
        try fixture.add("one", 1)
        let queue = try DatabaseQueue(path: fixture.path)
        try queue.writeWithoutTransaction(body)
        try queue.close()
    }

    @Test(
        "values that the tables forbid",
        arguments: [
            ("run", "name = NULL"), ("run", "is_dirty = 'x'"), ("run", "cells = NULL"), ("cell", "name = NULL"),
            ("series", "backend = NULL"), ("series", "cell = 'x'"), ("figure", "value = NULL"),
            ("run", "surroundings = NULL"), ("run", "surroundings = '[]'"),
            ("run", "surroundings = '{\"\": {\"kernel\": 1}}'"), ("figure", "value = 9e999"),
            ("figure", "samples = 'x'"),
            ("run", "host_class = printf('%.*c', 100000, 'x')"),
            ("cell", "name = replace(printf('%.*c', 1000, 'x'), 'x', char(769))"),
        ])
    func forbiddenValues(table: String, change: String) throws {
        try forge { database in
            let sql = try #require(
                try String.fetchOne(database, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [table]))
            func set(_ sql: String, _ then: String) throws {
                try database.execute(sql: "PRAGMA writable_schema = ON")
                try database.execute(sql: "UPDATE sqlite_master SET sql = ? WHERE name = ?", arguments: [sql, table])
                try database.execute(sql: then)
            }
            let loose = ["NOT NULL", "STRICT,", "STRICT"].reduce(sql) { $0.replacing($1, with: "") }
            try set(loose, "PRAGMA writable_schema = RESET")
            try database.execute(sql: "PRAGMA foreign_keys = OFF; UPDATE \(table) SET \(change)")
            try set(sql, "PRAGMA writable_schema = OFF")
        }
        let error = #expect(throws: InputError.self) {
            let history = try History(fixture.path, for: .reading)
            _ = (try history.entries(), try history.series())
        }
        #expect(error?.file == fixture.path)
    }

    @Test(
        "other objects with the names of the tables",
        arguments: [
            "DROP TABLE figure; CREATE TABLE figure (run INTEGER)",
            """
            DROP TABLE cell; CREATE VIEW cell AS WITH RECURSIVE n(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n)
            SELECT id, 'w' AS name FROM n
            """,
            "CREATE TRIGGER more AFTER INSERT ON run BEGIN DELETE FROM cell; END",
        ])
    func otherTables(change: String) throws {
        try forge {
            try $0.execute(sql: "PRAGMA foreign_keys = OFF")
            try $0.execute(sql: change)
        }
        try expectRefusal("other tables", isOwn: true)
    }

    @Test("foreign tables and indexes beside the tables")
    func foreignTables() throws {
        try forge { try $0.execute(sql: "CREATE TABLE mine (id); CREATE INDEX fast ON run (digest)") }
        #expect(try fixture.series().count == 1)
    }

    @Test("a folder")
    func folder() throws {
        try FileManager.default.createDirectory(atPath: fixture.path, withIntermediateDirectories: false)
        try expectRefusal("a folder", isOwn: false)
    }

    @Test("no file: there is no history to read, and reading makes none")
    func nothing() throws {
        for text in [nil, ""] {
            if let text { try write(Data(text.utf8)) }
            let names = try fixture.names()
            let error = #expect(throws: InputError.self) { _ = try History(fixture.path, for: .reading) }
            #expect(error?.file == fixture.path && error?.remedy.contains("opbench history add") == true)
            #expect(try !History.isThere(fixture.path) && fixture.names() == names)
        }
        // An empty file counts as missing.
        try fixture.add("one", 1)
        #expect(try fixture.series().count == 1)
    }

    @Test("the log of a killed process is recovered")
    func leftLog() throws {
        try fixture.add("one", 1)
        // As left by a process that ends in the middle: its log has a complete transaction that is not in the file yet.
        let other = try Fixture()
        let history = try History(fixture.path, for: .adding)
        let figures = Fixture.figures(2)
        #expect(try history.add(Fixture.run("two", day: 2, figures), figures: figures) == .added)
        for name in try fixture.names() where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: "\(fixture.folder)/\(name)", toPath: "\(other.folder)/\(name)")
        }
        try history.close()
        #expect(try other.names() == ["history.sqlite", "history.sqlite-wal"])
        #expect(try other.series()[0].points.map(\.run.id) == ["one", "two"])
    }
}
