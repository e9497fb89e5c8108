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
