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
        try update()
        let cost = started.duration(to: .now)
        nextUpdate = .now + max(Self.interval, cost * Self.costShare)
    }

    /// Rewrites the file from the rows saved so far; a reader sees the old one or the new one, never a part.
    @discardableResult
    func update() throws -> RunRows {
        let rows = try rows()
        try WrittenFolder(folder).replace(SummaryRow.fileName, by: CSVFile.text(of: rows.summary))
        return rows
    }

    /// The rows saved so far, and their summary.
    func rows() throws -> RunRows {
        let file = "\(folder)/\(SampleRow.fileName)"
        let samples = try CSVFile.read(SampleRow.self, file: file)
        try RowLimits.checkSize(samples, file: file)
        return RunRows(samples: samples, summary: order.sorted(sides.flatMap { summarize(samples, side: $0) }))
    }

    /// The rows of a run that has ended. Its file was written before it was said to be finished, and is not touched any
    /// more; that of a run which ended early is brought up to date, and one that was lost written anew.
    func rows(after ended: RunExecution.Ended) throws -> RunRows {
        let isWritten = !ended.isCancelled && access("\(folder)/\(SummaryRow.fileName)", F_OK) == 0
        return isWritten ? try rows() : try update()
    }
}
