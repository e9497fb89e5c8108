/// The reason why a comparison is inconclusive, with the likely remedy.
public enum Doubt: Sendable, Hashable {
    /// An absolute figure of two runs at different times, between which the machine may have drifted.
    case differentTimes
    /// Fewer blocks than the rule, or an interval, needs.
    case tooFewBlocks(Int, enough: Int)
    /// The interval includes the margin. `enough` is nil if the largest possible run would not decide.
    case wideInterval(blocks: Int, enough: Int?)
    /// The interval lies beyond the margin, but the adjusted p-value is not below alpha. `enough` as above.
    case likelyChance(blocks: Int, enough: Int?)
    /// No two samples of a side agree on a count, or the counts on which they agree differ between the sides, and others
    /// of a side scatter. `enough` as above.
    case scatter(blocks: Int, enough: Int?)
    /// More pairs of blocks than the exact test supports.
    case tooManyBlocks(Int, most: Int)
    /// A difference of time on a busy machine, which CPU time does not show.
    case busyMachine
    /// The denominator of a goal's ratio is 0.
    case noRatio

    /// The reason, short enough for a table.
    public var words: String {
        switch self {
        case .differentTimes: "different times"
        case .tooFewBlocks(let blocks, let enough): "\(blocks) of \(enough) blocks"
        case .wideInterval(let blocks, let enough?): "wide interval, \(blocks) of \(enough) blocks"
        case .wideInterval: "too noisy for the margin"
        case .likelyChance(let blocks, let enough?): "p not below alpha, \(blocks) of \(enough) blocks"
        case .likelyChance: "p not below alpha"
        case .scatter(let blocks, let enough?): "counts scatter, \(blocks) of \(enough) blocks"
        case .scatter: "counts scatter"
        case .tooManyBlocks(let blocks, let most): "\(blocks) blocks, \(most) at most"
        case .busyMachine: "busy machine"
        case .noRatio: "no ratio to 0"
        }
    }

    /// The number of blocks per side that is likely to decide; nil if more blocks would not help.
    public var moreBlocks: Int? {
        switch self {
        case .tooFewBlocks(_, let enough): enough
        case .wideInterval(_, let enough), .likelyChance(_, let enough), .scatter(_, let enough): enough
        case .differentTimes, .tooManyBlocks, .busyMachine, .noRatio: nil
        }
    }

    /// One action, as short as the reason.
    public var remedy: String {
        switch self {
        case .tooFewBlocks(_, let blocks), .tooManyBlocks(_, let blocks), .wideInterval(_, let blocks?),
            .likelyChance(_, let blocks?), .scatter(_, let blocks?):
            Self.remedy(blocks: blocks)
        case .wideInterval, .likelyChance, .scatter: "use a quieter machine, or a wider margin or bound"
        case .differentTimes: "judge the ratio to Dispatch, or measure both builds interleaved: opbench ab"
        case .busyMachine: "use a quieter machine: CPU time shows no such difference"
        case .noRatio: "bound the figure itself: a goal without `against`"
        }
    }

    private static func remedy(blocks: Int) -> String { "run with --blocks \(blocks)" }

    /// The actions for the inconclusive figures of one comparison, one line each, the most frequent first: `2 figures
    /// are inconclusive: run with --blocks 15`.
    public static func remedies(of doubts: [Doubt]) -> [String] {
        // The figure that needs most blocks decides.
        let blocks = doubts.compactMap(\.moreBlocks).max() ?? 0
        let groups = Dictionary(grouping: doubts) { $0.moreBlocks == nil ? $0.remedy : remedy(blocks: blocks) }
        return groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map { remedy, doubts in
            let figures = doubts.count == 1 ? "1 figure is" : "\(doubts.count) figures are"
            return "\(figures) inconclusive: \(remedy)"
        }
    }
}
