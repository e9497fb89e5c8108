import Foundation

/// New folders for tests. All lie below one folder of the process, which is removed when the process exits.
public enum TemporaryFolder {
    private static let owner = getpid()

    private static let root: String = {
        let path = FileManager.default.temporaryDirectory.appending(path: "opbench-tests-\(owner)-\(UUID())").path
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // A forked child that exits must leave its parent's folder.
        atexit {
            if getpid() == TemporaryFolder.owner { try? FileManager.default.removeItem(atPath: TemporaryFolder.root) }
        }
        return path
    }()

    /// A path at which nothing is.
    public static func unusedPath() -> String { "\(root)/\(UUID().uuidString)" }

    /// A new empty folder.
    public static func make() throws -> String {
        let path = unusedPath()
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// A new folder with these files, by their paths in it.
    public static func make(files: [String: String]) throws -> String {
        let root = try make()
        for (path, text) in files {
            let file = URL(filePath: "\(root)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return root
    }
}
