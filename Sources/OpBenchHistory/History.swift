import Foundation
import GRDB
import OpBenchAnalysis
import OpBenchModel

/// The figures of many runs, in an SQLite file. The rows in the runs' folders are authoritative: the file can be
/// removed and rebuilt from them.
///
/// Several processes may use one file at once: each run is added in one transaction, for which other processes wait,
/// and readers see only complete runs (SQLite's write-ahead log). Not for network file systems, on which SQLite's locks
/// do not work. Thread-safe.
public final class History: Sendable {
    public enum Access: Sendable { case reading, adding }

    public let path: String
    private let queue: DatabaseQueue

    /// The longest wait for another process, in seconds.
    private static let patience = 60.0

    /// Opens a history; `access` decides whether a missing one is made.
    ///
    /// - Throws: `InputError` for a file that is not a history of this version or cannot be opened; nothing is written
    ///   then. `DiskError`, `HistoryError`.
    public init(_ path: String, for access: Access) throws {
        self.path = path
        // Opening a file for adding switches it to SQLite's write-ahead log, so check first that it is a history.
        let found = try Self.find(path)
        switch access {
        case .reading:
            guard let found else {
                throw InputError(
                    file: path, message: "no history found",
                    remedy: "make one with `opbench history add RUN…`, or name another --database")
            }
            queue = found
        case .adding:
            try HistoryFailure.translated(at: path) {
                // Nothing is added to a damaged file. A mere reader finds the damage while reading.
                if let found, try found.read({ try !HistorySchema.isWhole($0) }) { throw HistoryFailure.damaged(path) }
                try found?.close()
            }
            try WrittenFolder.make(WrittenFolder.holding(path), remedy: "name a writable --database")
            queue = try Self.open(path, isQuery: false)
            try HistoryFailure.translated(at: path) {
                // Another process may have made the tables meanwhile.
                try queue.write { if try !HistorySchema.check($0, path) { try HistorySchema.make($0) } }
            }
        }
    }

    /// Whether the history exists.
    ///
    /// - Throws: `InputError` if the path leads to something else.
    public static func isThere(_ path: String) throws -> Bool {
        let found = try find(path)
        try HistoryFailure.translated(at: path) { try found?.close() }
        return found != nil
    }

    /// Closes the file, and removes SQLite's other files unless another process has it open. The history is unusable
    /// afterwards.
    public func close() throws { try HistoryFailure.translated(at: path) { try queue.close() } }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try HistoryFailure.translated(at: path) { try queue.read(body) }
    }

    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try HistoryFailure.translated(at: path) { try queue.write(body) }
    }

    // MARK: Opening

    /// The file's size in bytes; 0 if there is none.
    private static func size(of path: String) throws(InputError) -> Int {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            if errno == ENOENT { return 0 }
            throw InputError(
                file: path, message: "cannot be read: \(String(cString: strerror(errno)))",
                remedy: "name another --database")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw InputError(
                file: path, message: "this is not a regular file", remedy: "name a file with --database")
        }
        return Int(facts.st_size)
    }

    /// An existing history, opened for queries; nil if there is no file, or an empty one.
    private static func find(_ path: String) throws -> DatabaseQueue? {
        guard try size(of: path) > 0 else { return nil }
        let opened = try open(path, isQuery: true)
        return try HistoryFailure.translated(at: path) {
            if try opened.read({ try HistorySchema.check($0, path) }) { return opened }
            try opened.close()
            return nil
        }
    }

    /// - Parameter isQuery: whether nothing is to be written. SQLite may have to recover the log of a killed process,
    ///   so the file is opened writable even then.
    private static func open(_ path: String, isQuery: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "opbench history"
        configuration.busyMode = .timeout(patience)
        configuration.journalMode = isQuery ? .default : .wal
        if isQuery { configuration.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = ON") } }
        // Two processes that open a new file at once both switch its log on, and SQLite does not wait for either.
        let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
        return try HistoryFailure.translated(at: path) {
            while true {
                do {
                    return try DatabaseQueue(path: path, configuration: configuration)
                } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < deadline
                {
                    usleep(10_000)
                }
            }
        }
    }
}

/// The history could not be read or written, with no input at fault: `opbench` exits 1.
public struct HistoryError: Error, Sendable, CustomStringConvertible {
    public let path: String
    let message: String
    let remedy: String

    public var description: String { "\(path): \(message); \(remedy)" }
}

/// Translates SQLite's failures.
enum HistoryFailure {
    /// The body's result; translates a `DatabaseError` or `RowDecodingError` into an error with a remedy.
    ///
    /// - Throws: `InputError` for a file that is not a history, is damaged, or is not writable; `DiskError` for a full
    ///   or broken disk; `HistoryError` for all other failures of SQLite.
    static func translated<Value>(at path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw meaning(of: error, path)
        } catch is RowDecodingError {
            throw damaged(path)
        }
    }

    private static func meaning(of error: DatabaseError, _ path: String) -> any Error {
        switch error.resultCode {
        case .SQLITE_NOTADB: foreign(path, "this is not an SQLite database")
        case .SQLITE_CORRUPT: damaged(path)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: unwritable(path)
        case .SQLITE_CANTOPEN:
            InputError(
                file: path, message: "the database cannot be opened",
                remedy: "SQLite writes files beside it while it is open: copy it to a writable folder")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            HistoryError(
                path: path, message: "another process has locked the database", remedy: "try again when it has ended")
        case .SQLITE_FULL: DiskError(path: path, code: ENOSPC)
        case .SQLITE_IOERR: DiskError(path: path, code: EIO)
        default:
            HistoryError(
                path: path, message: "SQLite reports: \(error.message ?? "\(error.resultCode)")",
                remedy: "see its documentation")
        }
    }

    /// An existing file that is not a history of this version. Only opbench's own may be removed.
    static func foreign(_ path: String, _ message: String) -> InputError {
        let advice =
            HistorySchema.isOwn(path) ? ", or remove it and add the runs again: it holds nothing that they do not" : ""
        return InputError(file: path, message: message, remedy: "name another --database" + advice)
    }

    static func damaged(_ path: String) -> InputError { foreign(path, "the database is truncated or damaged") }

    static func unwritable(_ path: String) -> InputError {
        InputError(file: path, message: "the database is not writable", remedy: "name a writable --database")
    }
}
