import Foundation
import OpBenchModel

/// What a sample's process answers, as JSON.
struct SampleReport: Codable, Sendable {
    var status: SampleStatus = .ok
    var flags: [String] = []
    var notes: String = ""
    var figures: [Figure] = []
    var histograms: [Buckets] = []
    /// The fixed short loop before and after measuring, in nanoseconds: how fast the machine was just then.
    var referenceLoopNanoseconds: [Int64] = []

    /// As other builds write them, too: `opbench ab` has samples taken by another program.
    private enum CodingKeys: String, CodingKey {
        case status, flags, notes, histograms
        case figures = "figuresInNanoseconds"
        case referenceLoopNanoseconds = "anchorNanoseconds"
    }

    /// A figure of one process: what of a row is not the same for all its rows.
    struct Figure: Codable, Sendable, Equatable {
        var metric: String
        var stat: String
        var value: Double
        var phase: String = ""
        var iteration: Int?
        var operationClass: String = ""
        var operations: Int
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

    mutating func note(_ text: String) {
        if !text.isEmpty { notes += notes.isEmpty ? text : "; " + text }
    }
}

/// Nanoseconds as seconds, in which people wait.
func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }

/// An answer on standard output, where libraries loaded into the process may have printed before. It is a record of RFC
/// 7464: a byte that JSON never contains, JSON on one line, and the end of the line.
enum AnswerRecord {
    private static let (begin, end): (UInt8, UInt8) = (0x1E, 0x0A)

    static func bytes(of answer: some Encodable) throws -> [UInt8] {
        [begin] + (try JSONEncoder().encode(answer)) + [end]
    }

    /// The JSON of the last record; empty if the record is not whole. Builds from before records answer without one.
    static func json(in output: [UInt8]) -> Data {
        guard let begin = output.lastIndex(of: begin) else { return Data(output) }
        let rest = output[(begin + 1)...]
        return rest.firstIndex(of: end).map { Data(rest[..<$0]) } ?? Data()
    }
}

/// What the parent calls this program by when it wants something of it that is no user's. No command has such a name.
enum HiddenArgument {
    /// Be the process of one sample: a `SampleRequest` on standard input, a `SampleReport` in an `AnswerRecord`
    /// on standard output.
    static let sample = "__sample"
    /// Say what build this is: a `BuildDescription` in an `AnswerRecord`.
    static let describe = "__describe"
    /// Be limited, and become another program: see `LimitedProgram`.
    static let limited = "__limited"
}
