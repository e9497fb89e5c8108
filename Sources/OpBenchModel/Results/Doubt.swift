/// Why a comparison does not tell of a figure, and how many blocks on each side are likely to.
public enum Doubt: Sendable, Hashable {
    /// An absolute figure of two runs of different times, which drift apart by what was not measured.
    case noNoiseFloor
    /// Fewer blocks than the rule takes, or than an interval does.
    case tooFewBlocks(Int, enough: Int)
    /// The interval reaches over the margin. `enough` is nil where more blocks than a run has would not do.
    case wideInterval(blocks: Int, enough: Int?)
    /// The interval lies beyond the margin, but the adjusted p-value is not below alpha. `enough` as above.
    case likelyChance(blocks: Int, enough: Int?)
    /// More pairs of blocks than the exact test takes.
    case tooManyBlocks(Int, most: Int)
    /// The figure is 0 on one side, so that there is no ratio.
    case noRatio
}
