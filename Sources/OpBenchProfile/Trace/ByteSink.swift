import Glibc
import OpBenchModel

/// Where a writer's bytes go, piece by piece.
public protocol ByteSink: AnyObject {
    /// - Throws: what stands behind it; the writer then stops.
    func write(_ bytes: [UInt8]) throws
}

/// Keeps what is written. Not thread-safe.
public final class ByteCollector: ByteSink {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public func write(_ bytes: [UInt8]) { self.bytes += bytes }

    /// What was written, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A file that appears under its name when `publish` is called, whole, and leaves nothing behind if it is not: what it
/// is made of stands under a passing name until then. Not thread-safe.
public final class NewFile: ByteSink {
    private let folder: WrittenFolder
    private let name: String
    private let temporary = WrittenFolder.temporaryName()
    private var descriptor: Int32

    /// - Throws: `DiskError` if the folder takes no file.
    public init(_ name: String, in folder: WrittenFolder) throws(DiskError) {
        self.folder = folder
        self.name = name
        descriptor = try folder.open(temporary, O_CREAT | O_EXCL)
    }

    deinit { discard() }

    /// How much was written, in bytes.
    public private(set) var size = 0

    /// - Throws: `DiskError`.
    public func write(_ bytes: [UInt8]) throws {
        do throws(SystemError) {
            try FileBytes.write(bytes, to: descriptor)
            size += bytes.count
        } catch {
            throw DiskError(path: folder.file(name), code: error.code)
        }
    }

    /// Gives the file its name. Nothing can be written any more.
    ///
    /// - Throws: `DiskError`; the file is gone then.
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
