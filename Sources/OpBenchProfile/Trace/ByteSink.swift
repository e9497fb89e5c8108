import Glibc
import OpBenchModel

/// A destination for a writer's bytes.
public protocol ByteSink: AnyObject {
    /// - Throws: errors of the destination; the writer then stops.
    func write(_ bytes: [UInt8]) throws
}

/// A file that appears complete under its name when `publish` is called, and leaves nothing behind otherwise. Until
/// then, it has a temporary name. Not thread-safe.
public final class NewFile: ByteSink {
    private let folder: WrittenFolder
    private let name: String
    private let temporary = WrittenFolder.temporaryName()
    private var descriptor: Int32

    /// - Throws: `DiskError` if the file cannot be created.
    public init(_ name: String, in folder: WrittenFolder) throws(DiskError) {
        self.folder = folder
        self.name = name
        descriptor = try folder.open(temporary, O_CREAT | O_EXCL)
    }

    deinit { discard() }

    /// - Throws: `DiskError`.
    public func write(_ bytes: [UInt8]) throws {
        do throws(SystemError) {
            try FileBytes.write(bytes, to: descriptor)
        } catch {
            throw DiskError(path: folder.file(name), code: error.code)
        }
    }

    /// Renames the file to its name. No more bytes can be written.
    ///
    /// - Throws: `DiskError`; then the file is removed.
    public func publish() throws(DiskError) {
        if fsync(descriptor) != 0 { throw DiskError(path: folder.file(name), code: errno) }
        close(descriptor)
        descriptor = -1
        try folder.publish(temporary, as: name)
    }

    private func discard() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        folder.discard(temporary)
    }
}
