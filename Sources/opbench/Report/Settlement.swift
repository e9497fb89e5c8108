import OpBenchModel

/// What leaves some figures of a comparison open, and the commands that settle them.
struct Settlement: Equatable {
    let remedy: Doubt.Remedy
    /// How many figures, and why: `2 figures are inconclusive (7 of 15 blocks)`.
    let finding: String
    /// What is to be done, in words.
    let advice: String
    /// What is to be given to a shell, one after the other.
    let commands: [String]

    /// The advice and its commands in one line.
    var line: String { "\(advice): \(commands.joined(separator: " && "))" }
}

extension Doubt {
    /// What is to be done about it; doubts of one remedy are settled together.
    enum Remedy: Int, CaseIterable { case moreBlocks, fewerBlocks, noiseFloor, sharperComparison, rule }

    var remedy: Remedy {
        switch self {
        case .noNoiseFloor: .noiseFloor
        case .tooFewBlocks: .moreBlocks
        case .wideInterval(_, let enough), .likelyChance(_, let enough):
            enough == nil ? .sharperComparison : .moreBlocks
        case .tooManyBlocks: .fewerBlocks
        case .noRatio: .rule
        }
    }

    /// With how many blocks the figure is likely to be settled; nil if their number does not matter or none is likely to.
    var enough: Int? {
        switch self {
        case .noNoiseFloor, .noRatio: nil
        case .tooFewBlocks(_, let enough): enough
        case .wideInterval(_, let enough), .likelyChance(_, let enough): enough
        case .tooManyBlocks(_, let most): most
        }
    }

    /// In as few words as a table has room for.
    var words: String {
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

extension CompareRow {
    /// The verdict, and why it is none.
    var judgement: String { verdict.rawValue + (doubt.map { ": \($0.words)" } ?? "") }
}
