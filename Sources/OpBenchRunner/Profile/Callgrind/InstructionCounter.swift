import CLinuxMeasure
import Glibc
import OpBenchModel
import OpBenchProfile

/// Counts instructions between two instants, in all threads of this process.
protocol InstructionCounter: Sendable {
    func begin()
    /// The instructions since the last `begin()`; nil if nothing counts them.
    func end() -> Int64?
}

/// Marks rounds for callgrind, which writes a file at the end of each, and reads these files. Nothing that it does
/// outside the marks is counted.
final class CallgrindCounter: InstructionCounter {
    private let file: String
    /// The marks so far; each has a file, numbered from 1.
    nonisolated(unsafe) private var marks = 0

    init(file: String) { self.file = file }

    func begin() { clinux_counting_begins() }

    func end() -> Int64? {
        clinux_counting_ends()
        marks += 1
        let path = "\(file).\(marks)"
        defer { unlink(path) }
        guard let text = try? FileBytes.read(path) else { return nil }
        return try? CallgrindProfile.total(of: text)
    }
}
