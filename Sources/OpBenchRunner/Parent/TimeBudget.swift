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
