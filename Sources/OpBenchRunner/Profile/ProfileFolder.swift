import Foundation
import Glibc
import OpBenchModel

/// The folder of a profile run. Each cell's folder appears in it whole, under its name, when all its files are there.
final class ProfileFolder {
    let path: String
    private let folder: WrittenFolder

    /// Makes the folder and those above it.
    ///
    /// - Throws: `InputError` if there is something in it already, or it cannot be made; `DiskError` if the disk is full.
    init(_ path: String) throws {
        _ = try WrittenFolder.makeEmpty(path, remedy: "name another folder with --output")
        guard let resolved = realpath(path, nil) else { throw DiskError(path: path, code: errno) }
        defer { free(resolved) }
        self.path = path
        // By its absolute path: samples' processes write into it.
        folder = try WrittenFolder(String(cString: resolved))
    }

    /// A folder under a passing name, for the files of one cell. It is gone with the object unless it was published.
    final class Stage {
        let folder: WrittenFolder
        private let parent: WrittenFolder
        private var isPublished = false

        fileprivate init(in parent: WrittenFolder) throws(DiskError) {
            self.parent = parent
            let path = parent.file(WrittenFolder.temporaryName())
            if mkdir(path, 0o777) != 0 { throw DiskError(path: path, code: errno) }
            folder = try WrittenFolder(path)
        }

        deinit { if !isPublished { try? FileManager.default.removeItem(atPath: folder.path) } }

        /// Gives it its name, of which none is there yet.
        fileprivate func publish(as name: String) throws(DiskError) {
            let target = parent.file(name)
            if rename(folder.path, target) != 0 { throw DiskError(path: target, code: errno) }
            isPublished = true
        }

        /// Writes a file of text.
        func write(_ text: String, as name: String) throws(DiskError) { try folder.replace(name, by: text) }
    }

    func stage() throws(DiskError) -> Stage { try Stage(in: folder) }

    /// Publishes a stage under a name that tells cell and backend.
    ///
    /// - Returns: its path, as the user wrote the folder's.
    func publish(_ stage: Stage, of target: ProfileTarget) throws(DiskError) -> String {
        let name = ProfileNames.stem(of: target, among: Set(try folder.names()))
        try stage.publish(as: name)
        return path.utf8.last == UInt8(ascii: "/") ? path + name : "\(path)/\(name)"
    }
}

/// Names of files and folders for cells.
public enum ProfileNames {
    /// The longest name of a file is 255 bytes.
    private static let longestName = 160

    /// Letters, digits and `=._-+` of the cell's id, and the backend; numbered where another name begins so.
    public static func stem(of target: ProfileTarget, among taken: Set<String>) -> String {
        let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=._-+".utf8)
        func plain(_ text: String) -> String {
            String(decoding: text.utf8.map { allowed.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        }
        let stem = "\(plain(target.cell.id).prefix(longestName))-\(plain(target.backend.rawValue))"
        let first = stem.hasPrefix(".") ? "_\(stem)" : stem
        func isFree(_ name: String) -> Bool { !taken.contains { $0 == name || $0.hasPrefix("\(name)-") } }
        if isFree(first) { return first }
        return (2...).lazy.map { "\(first)-\($0)" }.first(where: isFree)!
    }
}
