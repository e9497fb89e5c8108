import Foundation
import Glibc
import OpBenchModel

/// The folder of a profile run. Each cell's folder appears in it under its name once all its files are written.
///
/// Thread-safe.
final class ProfileFolder: Sendable {
    let path: String
    private let folder: WrittenFolder

    /// Creates the folder and its parents.
    ///
    /// - Throws: `InputError` if the folder is not empty, or cannot be made; `DiskError` if the disk is full.
    init(_ path: String) throws {
        _ = try WrittenFolder.makeEmpty(path, remedy: "name another folder with --output")
        guard let resolved = realpath(path, nil) else { throw DiskError(path: path, code: errno) }
        defer { free(resolved) }
        self.path = path
        // An absolute path, because sample processes write into it.
        folder = try WrittenFolder(String(cString: resolved))
    }

    /// A folder for the files of one cell.
    func stage() throws(DiskError) -> StagedFolder { try StagedFolder(in: folder) }

    /// Publishes a stage under a name made of cell and backend.
    ///
    /// - Returns: its path, in the form that the user gave for the folder.
    func publish(_ stage: StagedFolder, of target: ProfileTarget) throws(DiskError) -> String {
        try publish(stage, as: ProfileNames.stem(of: target.cell, on: [target.backend], among: Set(try folder.names())))
    }

    /// Publishes a stage under a name that is free.
    ///
    /// - Returns: like the other `publish`.
    func publish(_ stage: StagedFolder, as name: String) throws(DiskError) -> String {
        try stage.publish(as: name)
        return path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }
}

/// Names of cells' files and folders.
public enum ProfileNames {
    /// File systems limit names to 255 bytes.
    private static let longestName = 160

    /// The cell's id, reduced to letters, digits and `=._-+`, and the backends; with a number if another name begins
    /// the same.
    public static func stem(of cell: Cell, on backends: [BackendID], among taken: Set<String>) -> String {
        let first = stem(of: [cell.id] + backends.map(\.rawValue))
        func isFree(_ name: String) -> Bool { !taken.contains { $0 == name || $0.hasPrefix("\(name)-") } }
        if isFree(first) { return first }
        return (2...).lazy.map { "\(first)-\($0)" }.first(where: isFree)!
    }

    private static let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=._-+".utf8)

    /// The parts, the first of which may be cut, without bytes that a name should not have.
    static func stem(of parts: [String]) -> String {
        let plain = parts.map { part in
            String(decoding: part.utf8.map { allowed.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        }
        let stem = ([String(plain[0].prefix(longestName))] + plain.dropFirst()).joined(separator: "-")
        return stem.hasPrefix(".") ? "_\(stem)" : stem
    }
}
