import Glibc
import OpBenchAnalysis
import OpBenchModel

/// A run's rows, as its files hold them.
struct RunRows: Sendable {
    let samples: [SampleRow]
    let summary: [SummaryRow]
}

/// Keeps a run's summary.csv in step with its samples.csv.
struct SummaryFile {
    /// The run's folder.
    let folder: String
    private let order: SummaryOrder
    /// Those of the builds that the run compares; one without a name in a run of one build.
    private let sides: [String]
    private var nextUpdate = ContinuousClock.now

    /// Summaries cost time that samples wait for: at most one part in so many, and one a second.
    private static let costShare = 20.0
    private static let interval = Duration.seconds(1)

    init(folder: String, order: SummaryOrder, sides: [Side] = []) {
        self.folder = folder
        self.order = order
        self.sides = sides.isEmpty ? [""] : sides.map(\.rawValue)
    }

    /// Rewrites the file from the rows saved so far, unless it was done a short while ago.
    mutating func updateNowAndThen() throws {
        guard .now >= nextUpdate else { return }
        let started = ContinuousClock.now
        _ = try update()
        let cost = started.duration(to: .now)
        nextUpdate = .now + max(Self.interval, cost * Self.costShare)
    }

    /// Rewrites the file from the rows saved so far; a reader sees the old one or the new one, never a part.
    ///
    func update() throws -> RunRows {
        let samples = try CSVFile.read(SampleRow.self, file: "\(folder)/\(SampleRow.fileName)")
        let summary = order.sorted(sides.flatMap { summarize(samples, side: $0) })
        try WholeFile.write(CSVFile.text(of: summary), to: "\(folder)/\(SummaryRow.fileName)")
        return RunRows(samples: samples, summary: summary)
    }
}

/// Replaces a file in one step.
enum WholeFile {
    static func write(_ text: String, to path: String) throws(OutputError) {
        let temporary = path + ".new"
        do throws(SystemError) {
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw SystemError(code: errno) }
            defer { close(descriptor) }
            try FileBytes.write(text, to: descriptor)
            guard rename(temporary, path) == 0 else { throw SystemError(code: errno) }
        } catch {
            throw OutputError(target: path, code: error.code)
        }
    }
}
