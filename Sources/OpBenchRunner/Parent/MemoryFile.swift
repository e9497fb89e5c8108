import CLinux
import Glibc
import OpBenchModel

/// A file without a name, in memory.
final class MemoryFile: Sendable {
    let descriptor: Int32

    init() throws {
        descriptor = clinux_memory_file()
        if descriptor < 0 { throw DiskError(path: "a file in memory", code: errno) }
    }

    deinit { close(descriptor) }

    /// Writes at the beginning, and leaves the file to be read from there.
    func write(_ bytes: [UInt8]) throws {
        do {
            try FileBytes.write(bytes, to: descriptor)
        } catch {
            throw DiskError(path: "a file in memory", code: error.code)
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    /// In bytes. Moves the place where the next reader begins to the end.
    var size: Int { Int(lseek(descriptor, 0, SEEK_END)) }

    func contents() -> [UInt8] {
        let size = size
        guard size > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
    }
}
