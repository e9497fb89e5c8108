import Glibc
import OpBenchAnalysis
import OpBenchModel

/// Keeps a run's summary.csv in step with its samples.csv. Of the rows, it has only those of one cell in memory at once, and
/// it reads and summarises again only what has changed.
struct SummaryFile: Sendable {
    /// The run's folder.
    let folder: String
    private let order: SummaryOrder
    /// Those of the builds that the run compares; one without a name in a run of one build.
    private let sides: [String]
    private var index: CellIndex
    private var summaries: [String: [SummaryRow]] = [:]
    private var nextUpdate = ContinuousClock.now
    /// How the samples ended that were read so far.
    private(set) var endings: SampleEndings

    /// Summaries cost time that samples wait for: at most one part in so many, and one a second.
    private static let costShare = 20.0
    private static let interval = Duration.seconds(1)

    init(folder: String, specs: [WorkloadSpec], sides: [Side] = []) {
        self.folder = folder
        order = SummaryOrder(specs: specs)
        self.sides = sides.isEmpty ? [""] : sides.map(\.rawValue)
        index = CellIndex(file: "\(folder)/\(SampleRow.fileName)")
        endings = SampleEndings(specs: specs)
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
    mutating func update() throws {
        let rows = try rows()
        try WrittenFolder(folder).replace(SummaryRow.fileName, by: CSVFile.text(of: rows))
    }

    /// The summary of the rows saved so far.
    mutating func rows() throws -> [SummaryRow] {
        var counted = endings
        let changed = try index.update { counted.count($0) }
        endings = counted
        for cell in index.cells where changed.contains(cell) {
            let rows = try index.rows(of: cell)
            summaries[cell] = sides.flatMap { summarize(rows, side: $0) }
        }
        let all = index.cells.flatMap { summaries[$0] ?? [] }
        try RowLimits.checkSize(ofSummary: all.count, file: index.file)
        return order.sorted(all)
    }

    /// The summary of a run that has ended. Its file was written before it was said to be finished, and is not touched any
    /// more; that of a run which ended early is brought up to date, and one that was lost written anew.
    mutating func rows(after ended: RunExecution.Ended) throws -> [SummaryRow] {
        let isWritten = !ended.isCancelled && access("\(folder)/\(SummaryRow.fileName)", F_OK) == 0
        if !isWritten { try update() }
        return try rows()
    }

    /// All rows saved so far.
    func samples() throws -> [SampleRow] {
        let samples = try CSVFile.read(SampleRow.self, file: index.file)
        try RowLimits.checkSize(samples, file: index.file)
        return samples
    }
}

/// Brings a summary into the order of the workload files: samples are taken in random order.
struct SummaryOrder: Sendable {
    private var cells: [String: Int] = [:]
    private var backends: [String: [BackendID: Int]] = [:]

    init(specs: [WorkloadSpec]) {
        for spec in specs {
            for cell in spec.cells() { cells[cell.id] = cells.count }
            backends[spec.name] = Dictionary(zip(spec.backends, 0...)) { first, _ in first }
        }
    }

    /// By cell and backend; the classes of one backend keep their order, and so does what the files do not have.
    func sorted(_ rows: [SummaryRow]) -> [SummaryRow] {
        rows.enumerated().map { offset, row in (place: place(of: row, offset), row: row) }
            .sorted { $0.place < $1.place }
            .map(\.row)
    }

    private func place(of row: SummaryRow, _ offset: Int) -> (cell: Int, backend: Int, offset: Int) {
        (cells[row.cellID] ?? .max, backends[row.workload]?[row.backend] ?? .max, offset)
    }
}
