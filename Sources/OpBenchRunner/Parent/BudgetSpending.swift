import OpBenchModel

/// The blocks left to take within a budget, and the choice of the next.
struct BudgetSpending {
    /// The blocks that each cell may still get, in order.
    private var blocks: [String: [[PlannedSample]]] = [:]
    /// The time of one block: first an estimate, then the time of the last block.
    private var secondsOfBlock: [String: Double] = [:]

    /// - Parameter estimate: estimates the time of a sample, in seconds.
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

    /// The next block of the cell with the widest interval, among cells whose block still fits; nil if no block fits.
    mutating func next(widths: [String: Double], remainingSeconds: Double) -> [PlannedSample]? {
        let fitting = widths.filter { cellID, _ in
            secondsOfBlock[cellID].map { $0 <= remainingSeconds } ?? false && blocks[cellID]?.isEmpty == false
        }
        // Ties go to the first cell by name, so that the same widths give the same choice.
        guard let widest = fitting.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return nil }
        return blocks[widest.key]?.removeFirst()
    }

    /// Records the time that a block took.
    mutating func note(_ block: [PlannedSample], seconds: Double) {
        if let cellID = block.first?.cell.id { secondsOfBlock[cellID] = seconds }
    }
}
