import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A run's rows and their summary, updated by the run's events. A cell is summarised again only when it has new rows.
struct RunSummary: Sendable {
    /// The run's folder.
    private(set) var folder: String
    private let order: SummaryOrder
    /// The builds that the run compares; an empty name in a run of one build.
    private let sides: [String]
    /// The rows in the order in which they were saved, in pieces of one cell each.
    private var pieces: [ArraySlice<SampleRow>] = []
    private var cells: [String] = []
    /// The indices of each cell's pieces.
    private var places: [String: [Int]] = [:]
    private var changed: Set<String> = []
    private var summaries: [String: [SummaryRow]] = [:]
    private var nextUpdate = ContinuousClock.now
    /// The outcomes of the samples so far.
    private(set) var endings: SampleEndings

    /// Summaries delay samples, so they take at most this part of the time, and at most one is made per second.
    private static let costShare = 20.0
    private static let interval = Duration.seconds(1)

    init(folder: String, specs: [WorkloadSpec], sides: [Side] = []) {
        self.folder = folder
        order = SummaryOrder(specs: specs)
        self.sides = sides.isEmpty ? [""] : sides.map(\.rawValue)
        endings = SampleEndings(specs: specs)
    }

    /// A summary of the rows in a run's folder, for a run without events.
    init(recordedIn folder: String, specs: [WorkloadSpec], sides: [Side] = []) throws {
        self.init(folder: folder, specs: specs, sides: sides)
        add(try CSVFile.read(SampleRow.self, file: "\(folder)/\(SampleRow.fileName)"))
    }

    /// Adds saved rows.
    mutating func add(_ rows: [SampleRow]) {
        var start = rows.startIndex
        while start < rows.endIndex {
            let cell = rows[start].cellID
            let end = rows[start...].firstIndex { $0.cellID != cell } ?? rows.endIndex
            if places[cell] == nil { cells.append(cell) }
            places[cell, default: []].append(pieces.count)
            pieces.append(rows[start..<end])
            changed.insert(cell)
            start = end
        }
        for row in rows { endings.count(row) }
    }

    /// All rows, in the order in which they were saved.
    var samples: [SampleRow] { pieces.flatMap { $0 } }

    /// The summary of the rows so far.
    mutating func rows() throws -> [SummaryRow] {
        for cell in changed {
            let rows = places[cell]!.flatMap { pieces[$0] }
            summaries[cell] = sides.flatMap { summarize(rows, side: $0) }
        }
        changed = []
        let all = cells.flatMap { summaries[$0] ?? [] }
        try RowLimits.checkSize(ofSummary: all.count, file: "\(folder)/\(SampleRow.fileName)")
        return order.sorted(all).markingUnsteady()
    }

    // MARK: summary.csv

    /// Rewrites the file from the rows so far, unless that happened a short while ago.
    mutating func updateNowAndThen() throws {
        guard .now >= nextUpdate else { return }
        let started = ContinuousClock.now
        try update()
        let cost = started.duration(to: .now)
        nextUpdate = .now + max(Self.interval, cost * Self.costShare)
    }

    /// Rewrites the file from the rows so far; readers see the old file or the new one, never a part.
    mutating func update() throws {
        try WrittenFolder(folder).replace(SummaryRow.fileName, by: CSVFile.text(of: rows()))
    }

    /// Follows a run to its end. A finished run's file is already final; that of a run that ended early is updated, and
    /// a missing one is rewritten.
    mutating func end(_ outcome: RunOutcome, writesSummary: Bool) throws {
        folder = outcome.folder
        if outcome.wasFinished { add(try CSVFile.read(SampleRow.self, file: "\(folder)/\(SampleRow.fileName)")) }
        let isWritten = access("\(folder)/\(SummaryRow.fileName)", F_OK) == 0
        if writesSummary, outcome.isCancelled || !isWritten { try update() }
    }
}

/// Sorts a summary in the order of the workload files, because samples are taken in random order.
struct SummaryOrder: Sendable {
    private var workloads: [String: Int] = [:]
    private var cells: [String: Int] = [:]
    private var backends: [String: [BackendID: Int]] = [:]

    init(specs: [WorkloadSpec]) {
        for spec in specs {
            workloads[spec.name] = workloads.count
            for cell in spec.cells { cells[cell.id] = cells.count }
            backends[spec.name] = Dictionary(zip(spec.backends, 0...)) { first, _ in first }
        }
    }

    /// Sorts by workload, cell and backend. Classes of one backend, and rows of other workloads, keep their order.
    func sorted(_ rows: [SummaryRow]) -> [SummaryRow] {
        let cells = cells.merging(placesByParameters(in: rows)) { $1 }
        return rows.enumerated().map { offset, row in
            let workload = workloads[row.workload] ?? .max
            let backend = backends[row.workload]?[row.backend] ?? .max
            return (place: (workload, cells[row.cellID] ?? .max, backend, offset), row: row)
        }
        .sorted { $0.place < $1.place }
        .map(\.row)
    }

    /// The places of all cells of the workloads with cells that are not in their files, but were made by `--set`.
    private func placesByParameters(in rows: [SummaryRow]) -> [String: Int] {
        let changed = Set(rows.lazy.filter { cells[$0.cellID] == nil && workloads[$0.workload] != nil }.map(\.workload))
        guard !changed.isEmpty else { return [:] }
        let first = Dictionary(rows.filter { changed.contains($0.workload) }.map { ($0.cellID, $0) }) { one, _ in one }
        let sorted = first.values.sorted { one, other in
            Self.values(of: one).lexicographicallyPrecedes(Self.values(of: other)) { $0 < $1 }
        }
        return Dictionary(uniqueKeysWithValues: zip(sorted.map(\.cellID), 0...))
    }

    /// The values of a cell's parameters in the order of the names, of which numbers precede texts.
    private static func values(of row: SummaryRow) -> [(number: Double, text: String)] {
        row.parameters.sorted { $0.key < $1.key }.map { (Double($0.value) ?? .infinity, $0.value) }
    }
}
