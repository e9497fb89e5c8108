import Foundation
import GRDB
import OpBenchAnalysis
import OpBenchModel

/// The figures of many runs, in a file of SQLite's. The rows in the runs' folders are the truth: the file can be removed
/// and made anew from them.
///
/// Several processes may use one file at a time: each run is added in one transaction, for which another process waits, and
/// readers see the runs that are there as a whole (SQLite's write-ahead log). Not on file systems of other machines, on
/// which SQLite's locks do not work. Thread-safe.
public final class History: Sendable {
    /// The file's name in a folder of runs.
    public static let fileName = "history.sqlite"

    public enum Access: Sendable { case reading, adding }

    public let path: String
    private let queue: DatabaseQueue

    /// How long another process is waited for, in seconds.
    private static let patience = 60.0

    /// Opens a history; to add to one that is not there, makes it.
    ///
    /// - Throws: `InputError` for a file that is no history of this version and for one that may not be opened; nothing is
    ///   written then. `DiskError`, `HistoryError`.
    public init(_ path: String, for access: Access) throws {
        self.path = path
        // SQLite's log is switched on in a file that is opened to be added to: in one of ours only.
        let found = try Self.find(path)
        switch access {
        case .reading:
            guard let found else {
                throw InputError(
                    file: path, message: "there is no history",
                    remedy: "`opbench history add RUN…` makes one of recorded runs, or name another --database")
            }
            queue = found
        case .adding:
            try HistoryFailure.told(of: path) {
                // Nothing is added to a file of which a part is lost, which reading it shows where it is read alone.
                if let found, try found.read({ try !HistorySchema.isWhole($0) }) { throw HistoryFailure.damaged(path) }
                try found?.close()
            }
            try WrittenFolder.make(WrittenFolder.holding(path), remedy: "name a writable --database")
            queue = try Self.open(path, isQuery: false)
            try HistoryFailure.told(of: path) {
                // Another process may have made them meanwhile.
                try queue.write { if try !HistorySchema.check($0, path) { try HistorySchema.make($0) } }
            }
        }
    }

    /// Whether there is a history.
    ///
    /// - Throws: `InputError` if there is something else.
    public static func isThere(_ path: String) throws -> Bool {
        let found = try find(path)
        try HistoryFailure.told(of: path) { try found?.close() }
        return found != nil
    }

    /// Closes the file, and removes what SQLite keeps beside it unless another process has it open. No use after that.
    public func close() throws { try HistoryFailure.told(of: path) { try queue.close() } }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try HistoryFailure.told(of: path) { try queue.read(body) }
    }

    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try HistoryFailure.told(of: path) { try queue.write(body) }
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
                file: path, message: "this is a folder, a device or the like", remedy: "name a file with --database")
        }
        return Int(facts.st_size)
    }

    /// A history that is there, to be asked alone; nil if there is no file, or an empty one.
    private static func find(_ path: String) throws -> DatabaseQueue? {
        guard try size(of: path) > 0 else { return nil }
        let opened = try open(path, isQuery: true)
        return try HistoryFailure.told(of: path) {
            if try opened.read({ try HistorySchema.check($0, path) }) { return opened }
            try opened.close()
            return nil
        }
    }

    /// - Parameter isQuery: whether nothing is to be written. SQLite may still have to put a log in order that a killed
    ///   process has left, so that the file is not opened as one that cannot be written.
    private static func open(_ path: String, isQuery: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "opbench history"
        configuration.busyMode = .timeout(patience)
        configuration.journalMode = isQuery ? .default : .wal
        if isQuery { configuration.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = ON") } }
        // Two that open a new file at once switch its log on against each other, and SQLite then waits for neither.
        let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
        return try HistoryFailure.told(of: path) {
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

/// The history could not be read or written, for nobody's bad input: `opbench` exits 1.
public struct HistoryError: Error, Sendable, CustomStringConvertible {
    public let path: String
    let message: String
    let remedy: String

    public var description: String { "\(path): \(message); \(remedy)" }
}

/// Says what SQLite's failures mean for a history.
enum HistoryFailure {
    /// The body's result; its `DatabaseError` or `RowDecodingError` as what the user can act on.
    ///
    /// - Throws: `InputError` for a file that is no history, is damaged, or may not be written; `DiskError` for a full or
    ///   broken disk; `HistoryError` for what else SQLite fails by.
    static func told<Value>(of path: String, _ body: () throws -> Value) throws -> Value {
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
        case .SQLITE_NOTADB: foreign(path, "this is no SQLite database")
        case .SQLITE_CORRUPT: damaged(path)
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH: unwritable(path)
        case .SQLITE_CANTOPEN:
            InputError(
                file: path, message: "the database cannot be opened",
                remedy: "SQLite keeps files beside it while it is open: copy it to a folder that can be written")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            HistoryError(
                path: path, message: "another process keeps the database", remedy: "try again when it has ended")
        case .SQLITE_FULL: DiskError(path: path, code: ENOSPC)
        case .SQLITE_IOERR: DiskError(path: path, code: EIO)
        default:
            HistoryError(
                path: path, message: "SQLite says: \(error.message ?? "\(error.resultCode)")",
                remedy: "see its documentation")
        }
    }

    /// A file that is there and no history.
    static func foreign(_ path: String, _ message: String) -> InputError {
        InputError(
            file: path, message: message,
            remedy: "name another --database, or remove it and add the runs again, whose rows are all that counts")
    }

    static func damaged(_ path: String) -> InputError { foreign(path, "the database is cut off or damaged") }

    static func unwritable(_ path: String) -> InputError {
        InputError(file: path, message: "the database cannot be written", remedy: "name a writable --database")
    }
}
