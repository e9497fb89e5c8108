import OpBenchModel

/// A time budget for a run. Every cell gets its first blocks, whatever they take; the remaining time goes, block by
/// block, to the cell with the least certain figures, until all are certain enough.
public struct TimeBudget: Sendable {
    public let seconds: Double
    /// The precision that the run is for: it ends early once all intervals are as narrow. Nil to spend the time.
    public let precision: Precision?
    /// By cell id, how far the ends of the cells' intervals are from their figures at most, relative to them; without
    /// cells that have no interval. The choice of blocks depends only on widths, never on who is ahead, so that looking
    /// often makes no backend seem faster.
    let widths: @Sendable (_ rows: [SampleRow]) -> [String: Double]
    /// Selects the rows that the widths need; no others are kept in memory.
    let isNeeded: @Sendable (_ row: SampleRow) -> Bool

    /// Intervals that are as narrow get no more blocks.
    var sufficient: Double { precision?.part ?? Self.negligible }
    private static let negligible = 0.005

    /// The throughput blocks that every cell gets, which is the number for screening, and the maximum of a cell.
    static let stages = [BlockStages.standard[0], mostBlocks]
    public static let mostBlocks = 50
    /// The time of a run for a precision, if the user gives none.
    public static let secondsForPrecision = 600.0

    /// - Parameter widths: called per cell, with all needed rows of that cell.
    public init(
        seconds: Double, precision: Precision? = nil,
        isNeeded: @escaping @Sendable (_ row: SampleRow) -> Bool = { _ in true },
        widths: @escaping @Sendable (_ rows: [SampleRow]) -> [String: Double]
    ) {
        self.seconds = seconds
        self.precision = precision
        self.isNeeded = isNeeded
        self.widths = widths
    }
}

/// The greatest distance of the intervals' ends from their figures that a run is for.
public struct Precision: Codable, Sendable, Equatable {
    /// The figures that have the intervals.
    public enum Figures: String, Codable, CaseIterable, Sendable {
        /// Ratios to the baseline within blocks, or times in cells without a ratio.
        case ratios
        /// Times per operation and ratios. The intervals of times do not know of drift from block to block.
        case times
    }

    /// As a part of the figures: 0.02 is 2 %.
    public let part: Double
    public let of: Figures

    public init(part: Double, of figures: Figures) { (self.part, of) = (part, figures) }
}
