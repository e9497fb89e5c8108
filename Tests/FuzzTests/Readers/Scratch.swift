import Foundation

/// The folder for files of readers of whole folders and databases: in memory if possible, since every input is a file.
/// One per process, removed at its end.
enum Scratch {
    static let folder: String = {
        let memory = "/dev/shm"
        let place = access(memory, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory.path
        let folder = "\(place)/opbench-fuzz-\(getpid())"
        try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Scratch.folder) }
        return folder
    }()
}
