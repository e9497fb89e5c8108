import OpBenchModel

extension Doubt {
    /// What is to be done about it; doubts of one remedy are settled together.
    public enum Remedy: Int, CaseIterable, Sendable {
        case moreBlocks, fewerBlocks, noiseFloor, sharperComparison, rule
    }

    public var remedy: Remedy {
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
    public var enough: Int? {
        switch self {
        case .noNoiseFloor, .noRatio: nil
        case .tooFewBlocks(_, let enough): enough
        case .wideInterval(_, let enough), .likelyChance(_, let enough): enough
        case .tooManyBlocks(_, let most): most
        }
    }
}
