import Foundation
import Glibc

/// A folder of this process's own, for other programs' files; under TMPDIR, or else in `/tmp`. It is removed with the object,
/// and if the process is killed, by the next one that makes such a folder.
///
/// Thread-safe.
public final class PassingFolder: Sendable {
    public let path: String
    /// Locked as long as the object lives: so others know that the folder is in use.
    private let folder: WrittenFolder

    private static let prefix = "opbench-passing-"
    /// Who has just made a folder has this long to lock it, in seconds.
    private static let grace = 60

    /// - Parameter parent: where it is made, and others are looked for.
    /// - Throws: `DiskError` if it cannot be made.
    public init(in parent: String = FileManager.default.temporaryDirectory.path) throws(DiskError) {
        Self.removeStale(in: parent)
        path = "\(parent)/\(Self.prefix)\(UUID().uuidString)"
        if mkdir(path, 0o700) != 0 {
            throw DiskError(path: path, code: errno, remedy: "make room there, or name another folder by TMPDIR")
        }
        folder = try WrittenFolder(path)
        _ = try folder.lock()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Removes this user's folders that no process has locked.
    private static func removeStale(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            var facts = stat()
            guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR, facts.st_uid == geteuid(),
                facts.st_mtim.tv_sec + grace < time(nil), let folder = try? WrittenFolder(path),
                (try? folder.lock()) == true
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
