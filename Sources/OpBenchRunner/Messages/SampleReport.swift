import Foundation
import OpBenchModel

/// The answer of a sample's process, as JSON.
struct SampleReport: Codable, Sendable {
    var status: SampleStatus = .ok
    var flags: [SampleFlag] = []
    var notes: String = ""
    var figures: [Figure] = []
    var histograms: [Buckets] = []
    /// The times of the reference loop before and after measuring, in nanoseconds, which show the machine's speed at
    /// that time.
    var referenceLoopNanoseconds: [Int64] = []

    /// Other builds write the same keys: in `opbench ab`, another program takes samples.
    private enum CodingKeys: String, CodingKey {
        case status, flags, notes, histograms
        case figures = "figuresInNanoseconds"
        case referenceLoopNanoseconds = "anchorNanoseconds"
    }

    /// A figure of one process: the part of a row that differs between its rows.
    struct Figure: Codable, Sendable, Equatable {
        var metric: String
        var stat: String
        var value: Double
        var phase: String = ""
        var iteration: Int?
        var operationClass: String = ""
        var operations: Int

        var isPossible: Bool {
            guard let metric = Metric.named(metric) else { return operations >= 0 }
            return metric.allows(value) && operations >= (metric.basis == .operation ? 1 : 0)
        }
    }

    struct Buckets: Codable, Sendable {
        var stage: String
        var operationClass: String
        var upperBounds: [Int64]
        var counts: [Int64]
    }

    mutating func add(
        _ metric: Metric, _ stat: String, _ value: Double, phase: String = "", iteration: Int? = nil,
        operationClass: String = "", operations: Int
    ) {
        figures.append(
            Figure(
                metric: metric.name, stat: stat, value: value, phase: phase, iteration: iteration,
                operationClass: operationClass, operations: operations))
    }

    /// Leaves out figures that cannot have been measured, which no reader would accept; notes name them.
    mutating func leaveOutImpossible() {
        for figure in figures where !figure.isPossible { note("\(figure.metric) is left out: it was \(figure.value)") }
        figures.removeAll { !$0.isPossible }
    }

    mutating func note(_ text: String) {
        if !text.isEmpty { notes += notes.isEmpty ? text : "; " + text }
    }
}

/// Converts nanoseconds to seconds.
func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }

/// An answer on standard output, which libraries in the process may have printed to before. It is a record of RFC 7464:
/// a byte that JSON never contains, JSON on one line, and a line end.
enum AnswerRecord {
    private static let (begin, end): (UInt8, UInt8) = (0x1E, 0x0A)

    static func bytes(of answer: some Encodable) throws -> [UInt8] {
        [begin] + (try JSONEncoder().encode(answer)) + [end]
    }

    /// The JSON of the last record; empty if the record is incomplete. Older builds answer without a record.
    static func json(in output: [UInt8]) -> Data {
        guard let begin = output.lastIndex(of: begin) else { return Data(output) }
        let rest = output[(begin + 1)...]
        return rest.firstIndex(of: end).map { Data(rest[..<$0]) } ?? Data()
    }
}

/// First arguments that only the parent passes to this program. No command has such a name.
enum HiddenArgument {
    /// Takes one sample: a `SampleRequest` on standard input, a `SampleReport` in an `AnswerRecord` on standard output.
    static let sample = "__sample"
    /// Prints the description of this build: a `BuildDescription` in an `AnswerRecord`.
    static let describe = "__describe"
    /// Applies limits, and then becomes another program: see `LimitedProgram`.
    static let limited = "__limited"
    /// Waits, and then becomes a program to profile: see `GatedProgram`.
    static let gated = "__gated"
}
