import CLinuxMeasure
import Glibc
import OpBenchModel

/// An anonymous file in memory: a standard stream of a program.
public final class MemoryFile: Sendable {
    public let descriptor: Int32

    /// - Parameter limit: the largest size in bytes, so that a program's output cannot fill the memory. A write beyond
    ///   it fails with EPERM. Nil for a file that may grow, whose end a reader finds.
    public init(limit: Int? = nil) throws {
        descriptor = clinux_memory_file(limit ?? 0)
        if descriptor < 0 { throw DiskError(path: "a file in memory", code: errno) }
    }

    deinit { close(descriptor) }

    /// Writes at the beginning, and leaves the position there for reading.
    public func write(_ bytes: [UInt8]) throws {
        do {
            try FileBytes.write(bytes, to: descriptor)
        } catch {
            throw DiskError(path: "a file in memory", code: error.code)
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    /// The bytes that a program has written to this descriptor or to an inherited one: they share a position. Writes
    /// through a newly opened descriptor are not counted.
    public var size: Int { Int(lseek(descriptor, 0, SEEK_CUR)) }

    public func contents() -> [UInt8] { read(0..<size) }

    /// The last `count` bytes, or fewer.
    public func tail(_ count: Int) -> [UInt8] {
        let size = size
        return read(max(0, size - count)..<size)
    }

    private func read(_ range: Range<Int>) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        return [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, range.count, off_t(range.lowerBound)))
        }
    }
}
