import Foundation
import GRDB
import OpBenchModel

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
