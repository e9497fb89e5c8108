import Foundation
import Glibc
import OpBenchModel

/// The folder of baselines.
struct BaselineFolder {
    let path: String

    /// Copies the files of a run under a name. A killed process may leave a folder with a passing name, and for an instant
    /// none under the replaced one's; the older one then lies beside it.
    ///
    /// - Throws: `InputError` if the name is taken and not to be replaced, `DiskError` if something cannot be written;
    ///   either way nothing has changed.
    func install(_ name: String, replaces: Bool, files: [String], of source: String) throws {
        let (target, temporary) = ("\(path)/\(name)", "\(path)/\(WrittenFolder.temporaryName())")
        var facts = stat()
        let isTaken = lstat(target, &facts) == 0
        if isTaken, !replaces { throw taken(target) }
        guard mkdir(temporary, 0o777) == 0 else { throw DiskError(path: target, code: errno) }
        do {
            let folder = try WrittenFolder(temporary)
            for file in files { try folder.copy("\(source)/\(file)", as: file) }
            try isTaken ? exchange(temporary, with: target) : move(temporary, to: target)
        } catch {
            remove(temporary)
            throw error
        }
    }

    private func taken(_ target: String) -> InputError {
        InputError(
            file: target, message: "a baseline of this name exists", remedy: "give another --name, or --replace")
    }

    private func exchange(_ new: String, with target: String) throws {
        let old = "\(path)/\(WrittenFolder.temporaryName())"
        try move(target, to: old)
        do {
            try move(new, to: target)
        } catch {
            rename(old, target)
            throw error
        }
        remove(old)
    }

    /// Another process may have taken the name meanwhile.
    private func move(_ folder: String, to target: String) throws {
        if rename(folder, target) == 0 { return }
        if errno == ENOTEMPTY || errno == EEXIST { throw taken(target) }
        throw DiskError(path: target, code: errno)
    }

    private func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}
