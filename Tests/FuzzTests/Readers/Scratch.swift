import Foundation

/// Where readers of whole folders and databases have their files: in memory where there is such a place, since every input is
/// a file. One of each process, removed at its end.
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
