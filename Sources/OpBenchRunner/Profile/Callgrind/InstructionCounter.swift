import CLinuxMeasure
import Glibc
import OpBenchModel

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
        return (try? FileBytes.read(path)).flatMap(Self.total)
    }

    private static let longestTotals = 64

    /// The total count of a file with one kind of event, from its last line; nil if that is missing. The format is version
    /// 1 of “Callgrind Format Specification” in valgrind's manual.
    static func total(of file: [UInt8]) -> Int64? {
        let line = file.suffix(longestTotals).split(separator: UInt8(ascii: "\n")).last ?? []
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 2, words[0] == "totals:", let total = Int64(words[1]), total >= 0 else { return nil }
        return total
    }
}
