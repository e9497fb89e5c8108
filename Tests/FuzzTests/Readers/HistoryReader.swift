import Foundation
import GRDB
import OpBenchAnalysis
import OpBenchHistory
import Synchronization

@testable import OpBenchModel

extension FuzzReader {
    /// The database of `opbench history`. SQLite is not under test, but what is made of what it gives. Of an input, the
    /// first byte says how the file comes about:
    ///
    /// - 0: the rest is the file.
    /// - 1: a good file with bytes changed: three bytes a change, the place among its bytes other than 0, and the new
    ///   one.
    /// - any other: a good file with values changed that its tables forbid: a byte for the column, one for the row, one
    ///   for the kind of the value, one for its length, and as many of text.
    static let history = FuzzReader(
        name: "history",
        words: {
            let texts = ["2026-01-02T00:00:00Z", "w items=10", "engine", "time", "total", "\u{301}", "\u{0}", "\u{FF}"]
            return texts + Forged.columns.indices.map { "\u{2}" + String(UnicodeScalar(UInt8($0))) }
        },
        seeds: {
            let none = Forged.columns.indices.map { [2, UInt8($0), 0, 0, 0] }
            return none + [
                [1], [1, 0, 1, 255, 40, 0, 7], [2, 1, 0, 3, 4] + Array("abcd".utf8),
                [0] + Array(Forged.good.prefix(200)),
            ]
        },
        read: { bytes in
            guard let kind = bytes.first else { return }
            let rest = bytes.dropFirst()
            switch kind {
            case 0: try Forged.hold(Array(rest), isAdding: true)
            case 1: try Forged.hold(Forged.changed(rest), isAdding: rest.count < 16)
            default: try Forged.hold(try Forged.changedValues(rest), isAdding: kind % 8 == 3)
            }
        },
        isExpected: { $0 is HistoryError || $0 is DiskError }, refusesWholeFiles: true)
}

/// Databases that are no good histories, or nearly.
private enum Forged {
    static let columns: [(table: String, column: String)] =
        [
            "id", "name", "started_utc", "commit_id", "is_dirty", "host_class", "allocator", "configuration",
            "surroundings",
            "digest",
            "cells", "figures",
        ]
        .map { ("run", $0) } + [("cell", "id"), ("cell", "name")]
        + ["id", "metric", "phase", "operation_class", "stat", "backend", "side", "cell"].map { ("series", $0) }
        + ["series", "run", "value", "low", "high", "samples"].map { ("figure", $0) }

    /// One file for the whole process: libFuzzer tries one input at a time, and the tests of this reader do.
    private static let path = Mutex(Scratch.folder + "/history.sqlite")

    // MARK: Good ones

    private static func name(_ metric: String, _ phase: String) -> FigureName {
        FigureName(cellID: "w items=10", backend: .engine, metric: metric, phase: phase, stat: "total")
    }

    private static func add(_ id: String, to history: History) throws -> History.Addition {
        let figures = [
            RunFigure(name: name("time", "total"), value: 10, low: 9, high: 12, samples: 7),
            RunFigure(name: name("allocations", ""), value: 3, samples: 7),
        ]
        let run = HistoryRun(
            id: id, startedUTC: "2026-01-02T03:04:05.678Z", commit: "c0ffee", isDirty: false,
            host: HostKind(hostClass: "a machine", allocator: "jemalloc", configuration: "release"), figures: figures)
        return try history.add(run, figures: figures)
    }

    /// A history of two runs.
    static let good: [UInt8] = {
        let file = Scratch.folder + "/good.sqlite"
        let history = try! History(file, for: .adding)
        for id in ["one", "two"] { _ = try! add(id, to: history) }
        try! history.close()
        return [UInt8](try! Data(contentsOf: URL(filePath: file)))
    }()

    /// The indices of the good file's bytes other than 0.
    private static let places = good.indices.filter { good[$0] != 0 }

    static func changed(_ changes: ArraySlice<UInt8>) -> [UInt8] {
        var (bytes, changes) = (good, Array(changes))
        while changes.count >= 3 {
            let place = Int(changes[0]) << 8 | Int(changes[1])
            bytes[places[place % places.count]] = changes[2]
            changes.removeFirst(3)
        }
        return bytes
    }

    /// The part of a file with the tables' text: its first page without the header, and nothing else.
    private static let textRange = 100..<4096

    /// The good one, in which the tables demand nothing of values; and what the tables' text is where they do.
    private static let loose: (file: [UInt8], strictText: ArraySlice<UInt8>) = {
        let file = Scratch.folder + "/loose.sqlite"
        func rewritten(_ bytes: [UInt8], _ change: (String) -> String) -> [UInt8] {
            try! write(bytes, to: file)
            let queue = try! DatabaseQueue(path: file)
            try! queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA writable_schema = ON")
                for row in try Row.fetchAll(database, sql: "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
                {
                    try database.execute(
                        sql: "UPDATE sqlite_master SET sql = ? WHERE name = ?",
                        arguments: [change(row["sql"]), row["name"] as String])
                }
            }
            try! queue.close()
            return [UInt8](try! Data(contentsOf: URL(filePath: file)))
        }
        var texts: [String: String] = [:]
        // Of the same length, so that nothing moves.
        var bytes = rewritten(good) { sql in
            let loose = ["NOT NULL", "STRICT,", "STRICT"].reduce(sql) { text, word in
                text.replacing(word, with: String(repeating: " ", count: word.utf8.count))
            }
            texts[loose] = sql
            return loose
        }
        let strict = rewritten(bytes) { texts[$0]! }
        // Without the log, which would be written and removed for each input.
        (bytes[18], bytes[19]) = (1, 1)
        return (bytes, strict[textRange])
    }()

    /// A file with values that its tables forbid.
    static func changedValues(_ changes: ArraySlice<UInt8>) throws -> [UInt8] {
        let (base, strictText) = loose
        return try path.withLock { path in
            try write(base, to: path)
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            var changes = changes
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
                while changes.count >= 4 {
                    let (table, column) = columns[Int(changes.removeFirst()) % columns.count]
                    let (row, kind, length) = (changes.removeFirst(), changes.removeFirst(), Int(changes.removeFirst()))
                    let text = changes.prefix(length)
                    changes = changes.dropFirst(length)
                    let key = table == "figure" ? "series, run" : "id"
                    // What an index forbids stays as it was.
                    try? database.execute(
                        sql: """
                            UPDATE \(table) SET \(column) = ?
                            WHERE (\(key)) IN (SELECT \(key) FROM \(table) LIMIT 1 OFFSET \(row % 4))
                            """, arguments: [value(kind, Data(text))])
                }
            }
            try queue.close()
            var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            bytes.replaceSubrange(textRange, with: strictText)
            (bytes[18], bytes[19]) = (2, 2)
            return bytes
        }
    }

    private static func value(_ kind: UInt8, _ text: Data) -> DatabaseValue {
        switch kind % 10 {
        case 0: .null
        case 1: Int64.max.databaseValue
        case 2: Int64.min.databaseValue
        case 3: String(decoding: text, as: UTF8.self).databaseValue
        case 4: text.databaseValue
        case 5: Double.infinity.databaseValue
        case 6: 1e300.databaseValue
        case 7: 0.5.databaseValue
        case 8: String(repeating: "\u{301}", count: 100 * text.count).databaseValue
        default: String(repeating: "long", count: 1000 * text.count).databaseValue
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        for beside in ["-wal", "-shm", "-journal"] { unlink(path + beside) }
        try Data(bytes).write(to: URL(filePath: path))
    }

    // MARK: What is held of them

    /// - Parameter isAdding: whether a run is added if the file is taken; that takes longer than all the rest.
    static func hold(_ bytes: [UInt8], isAdding: Bool) throws {
        try path.withLock { path in
            try write(bytes, to: path)
            do {
                let history = try History(path, for: .reading)
                defer { try? history.close() }
                _ = try history.entries()
                _ = try history.names()
                let series = try history.series()
                try promise(series.allSatisfy { !$0.points.isEmpty }, "a series without a point")
                let rows = CSVFile.text(of: series.flatMap(\.rows))
                let same = try again("the trend") { try CSVFile.rows(TrendRow.self, text: rows, file: "trend") }
                try promise(
                    CSVFile.text(of: same).utf8.elementsEqual(rows.utf8), "the trend was another when it was written")
            } catch {
                let left = [UInt8](try Data(contentsOf: URL(filePath: path)))
                try promise(left == bytes, "a file that is refused was changed")
                throw error
            }
            guard isAdding else { return }
            let history = try History(path, for: .adding)
            defer { try? history.close() }
            let addition = try add("three", to: history)
            try promise(addition == .added || addition == .refused || addition == .known, "a run was replaced unasked")
            let found = try history.entries().contains { $0.run.id == "three" }
            try promise(found, "a run that was added is not there")
        }
    }
}
