import CLinuxMeasure
import Glibc
import OpBenchModel

/// A file without a name, in memory: a stream of a program that is started.
public final class MemoryFile: Sendable {
    public let descriptor: Int32

    /// - Parameter limit: the most bytes that it takes, so that no program fills the memory with what it prints. A write
    ///   beyond fails with EPERM. nil for a file that may grow, and whose end a reader finds.
    public init(limit: Int? = nil) throws {
        descriptor = clinux_memory_file(limit ?? 0)
        if descriptor < 0 { throw DiskError(path: "a file in memory", code: errno) }
    }

    deinit { close(descriptor) }

    /// Writes at the beginning, and leaves the file to be read from there.
    public func write(_ bytes: [UInt8]) throws {
        do {
            try FileBytes.write(bytes, to: descriptor)
        } catch {
            throw DiskError(path: "a file in memory", code: error.code)
        }
        lseek(descriptor, 0, SEEK_SET)
    }

    /// How many bytes a program has written, to this descriptor or to one that it got from this process: they have one
    /// position. What it wrote by opening the file anew is not counted.
    public var size: Int { Int(lseek(descriptor, 0, SEEK_CUR)) }

    public func contents() -> [UInt8] { read(0..<size) }

    /// The end of it, at most so many bytes.
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
