extension GatePolicy {
    /// How great figures of one run may be, by themselves or as ratios to others of the same run.
    public struct Goal: Sendable, Hashable {
        /// What a ratio is taken to.
        public enum Reference: Sendable, Hashable {
            /// The same figure of that of these backends which has the least, on the same cell, in the same block.
            case fastest([BackendID])
            /// The same figure of the same backend on another cell.
            case cell(String)
        }

        public var selector: Selector
        /// Nil for a bound on the figure itself.
        public var reference: Reference?
        /// The greatest ratio, or the greatest figure in the metric's unit per operation or round, that meets the goal.
        public var atMost: Double
        /// To call it missed takes at least this many blocks.
        public var minBlocks: Int

        public init(
            _ selector: Selector, against reference: Reference? = nil, atMost: Double,
            minBlocks: Int = FigureRule.standardMinBlocks
        ) {
            self.selector = selector
            self.reference = reference
            self.atMost = atMost
            self.minBlocks = minBlocks
        }
    }
}

extension GatePolicy.Goal.Reference {
    /// As it is printed and as `goals.csv` has it.
    public var text: String {
        switch self {
        case .fastest(let backends): backends.map(\.rawValue).joined(separator: " or ")
        case .cell(let id): id
        }
    }
}
