import OpBenchAnalysis
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
