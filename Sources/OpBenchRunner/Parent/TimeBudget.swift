import OpBenchModel

/// A time that a run may take. Every cell gets its first blocks, whatever they take; the rest goes, block by block, to the
/// cell whose figures are least certain.
public struct TimeBudget: Sendable {
    public let seconds: Double
    /// How wide the cells' intervals are, by cell id; a cell that is left out needs no more blocks. By widths alone, never by
    /// who is ahead, so that looking often makes no backend seem faster.
    let widths: @Sendable (_ rows: [SampleRow]) -> [String: Double]
    /// Which rows those are made of: no others are kept in memory.
    let isNeeded: @Sendable (_ row: SampleRow) -> Bool

    /// The throughput blocks that every cell gets, as many as screening takes, and the most that one cell may get.
    static let stages = [BlockStages.standard[0], 50]

    /// - Parameter widths: is asked cell by cell, with all rows of that cell which are needed.
    public init(
        seconds: Double, isNeeded: @escaping @Sendable (_ row: SampleRow) -> Bool = { _ in true },
        widths: @escaping @Sendable (_ rows: [SampleRow]) -> [String: Double]
    ) {
        self.seconds = seconds
        self.isNeeded = isNeeded
        self.widths = widths
    }
}

/// What is left to be taken within a budget, and what comes next.
struct BudgetSpending {
    /// The blocks that each cell may still get, in order.
    private var blocks: [String: [[PlannedSample]]] = [:]
    /// What one of its blocks takes: a guess, then as the last one did.
    private var secondsOfBlock: [String: Double] = [:]

    /// - Parameter estimate: a guess of the time that a sample takes, in seconds.
    init(_ reserve: [PlannedSample], estimate: (PlannedSample) -> Double) {
        let byBlock = Dictionary(grouping: reserve) { BlockKey(cellID: $0.cell.id, index: $0.block) }
        for (key, samples) in byBlock.sorted(by: { $0.key.index < $1.key.index }) {
            blocks[key.cellID, default: []].append(samples)
            if secondsOfBlock[key.cellID] == nil {
                secondsOfBlock[key.cellID] = samples.reduce(0) { $0 + estimate($1) }
            }
        }
    }

    private struct BlockKey: Hashable {
        var cellID: String
        var index: Int
    }

    /// The next block of the cell with the widest interval, of those whose block still fits; nil if none does.
    mutating func next(widths: [String: Double], remainingSeconds: Double) -> [PlannedSample]? {
        let fitting = widths.filter { cellID, _ in
            secondsOfBlock[cellID].map { $0 <= remainingSeconds } ?? false && blocks[cellID]?.isEmpty == false
        }
        // Of equals the first by name, so that the same widths give the same choice.
        guard let widest = fitting.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
        return blocks[widest.key]?.removeFirst()
    }

    /// A block has taken so long.
    mutating func note(_ block: [PlannedSample], seconds: Double) {
        if let cellID = block.first?.cell.id { secondsOfBlock[cellID] = seconds }
    }
}
