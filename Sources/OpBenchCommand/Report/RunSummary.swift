import OpBenchAnalysis
import OpBenchModel

/// The summary of a run whose rows grow. A cell is summarised again only when it has new rows.
struct RunSummary: Sendable {
    private let order: SummaryOrder
    /// The builds that the run compares; an empty name in a run of one build.
    private let sides: [String]
    /// The number of rows that were seen.
    private var seen = 0
    private var cells: [String] = []
    /// The places of each cell's rows.
    private var places: [String: [Range<Int>]] = [:]
    private var summaries: [String: [SummaryRow]] = [:]
    private var nextUpdate = ContinuousClock.now

    /// Summaries delay samples, so they take at most this part of the time, and at most one is made per second.
    private static let costShare = 20.0
    private static let interval = Duration.seconds(1)

    init(specs: [WorkloadSpec], sides: [Side] = []) {
        order = SummaryOrder(specs: specs)
        self.sides = sides.isEmpty ? [""] : sides.map(\.rawValue)
    }

    /// The summary of all rows of the run so far.
    ///
    /// - Parameters:
    ///   - samples: the rows; they begin with those of the last call.
    ///   - folder: the run's, for messages.
    mutating func rows(of samples: [SampleRow], in folder: String) throws -> [SummaryRow] {
        var changed: Set<String> = []
        while seen < samples.count {
            let cell = samples[seen].cellID
            let end = samples[seen...].firstIndex { $0.cellID != cell } ?? samples.endIndex
            if places[cell] == nil { cells.append(cell) }
            places[cell, default: []].append(seen..<end)
            changed.insert(cell)
            seen = end
        }
        for cell in changed {
            let rows = places[cell]!.flatMap { samples[$0] }
            summaries[cell] = sides.flatMap { summarize(rows, side: $0) }
        }
        let all = cells.flatMap { summaries[$0] ?? [] }
        try RowLimits.checkSize(ofSummary: all.count, file: "\(folder)/\(SampleRow.fileName)")
        return order.sorted(all).markingUnsteady()
    }

    /// Rewrites summary.csv from the rows so far, unless that happened a short while ago.
    mutating func updateNowAndThen(_ samples: [SampleRow], in folder: String) throws {
        guard .now >= nextUpdate else { return }
        let started = ContinuousClock.now
        try WrittenFolder(folder).replace(SummaryRow.fileName, by: CSVFile.text(of: rows(of: samples, in: folder)))
        let cost = started.duration(to: .now)
        nextUpdate = .now + max(Self.interval, cost * Self.costShare)
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
