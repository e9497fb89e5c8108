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
    /// The figure that a goal's ratio refers to is 0.
    case noRatio

    /// In as few words as a table has room for.
    public var words: String {
        switch self {
        case .noNoiseFloor: "no noise floor"
        case .tooFewBlocks(let blocks, let enough): "\(blocks) of \(enough) blocks"
        case .wideInterval(let blocks, let enough?): "wide interval, \(blocks) of \(enough) blocks"
        case .wideInterval: "too noisy for the margin"
        case .likelyChance(let blocks, let enough?): "p not below alpha, \(blocks) of \(enough) blocks"
        case .likelyChance: "p not below alpha"
        case .tooManyBlocks(let blocks, let most): "\(blocks) blocks, \(most) at most"
        case .noRatio: "no ratio to 0"
        }
    }
}
