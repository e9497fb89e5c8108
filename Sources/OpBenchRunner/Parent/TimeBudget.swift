import OpBenchModel

/// A time budget for a run. Every cell gets its first blocks, whatever they take; the remaining time goes, block by
/// block, to the cell with the least certain figures, until all are certain enough.
public struct TimeBudget: Sendable {
    public let seconds: Double
    /// The greatest distance of the intervals' ends from their figures that the run is for, as a part of these: it ends
    /// early once all intervals are as narrow. Nil to spend the time.
    public let precision: Double?
    /// By cell id, how far the ends of the cells' intervals are from their figures at most, relative to them; without
    /// cells that have no interval. The choice of blocks depends only on widths, never on who is ahead, so that looking
    /// often makes no backend seem faster.
    let widths: @Sendable (_ rows: [SampleRow]) -> [String: Double]
    /// Selects the rows that the widths need; no others are kept in memory.
    let isNeeded: @Sendable (_ row: SampleRow) -> Bool

    /// Intervals that are as narrow get no more blocks.
    var sufficient: Double { precision ?? Self.negligible }
    private static let negligible = 0.005

    /// The throughput blocks that every cell gets, which is the number for screening, and the maximum of a cell.
    static let stages = [BlockStages.standard[0], mostBlocks]
    public static let mostBlocks = 50
    /// The time of a run for a precision, if the user gives none.
    public static let secondsForPrecision = 600.0

    /// - Parameter widths: called per cell, with all needed rows of that cell.
    public init(
        seconds: Double, precision: Double? = nil,
        isNeeded: @escaping @Sendable (_ row: SampleRow) -> Bool = { _ in true },
        widths: @escaping @Sendable (_ rows: [SampleRow]) -> [String: Double]
    ) {
        self.seconds = seconds
        self.precision = precision
        self.isNeeded = isNeeded
        self.widths = widths
    }
}
