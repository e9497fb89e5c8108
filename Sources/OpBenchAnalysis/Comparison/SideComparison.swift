import OpBenchModel

/// The judgement of a run of two interleaved builds, during the run and at its end.
public struct SideComparison: Sendable {
    private let question: Comparison.Question
    private let takesAllStages: Bool

    /// - Parameter takesAllStages: whether an undecided cell gets more blocks even if they are unlikely to decide it.
    public init(_ question: Comparison.Question, takesAllStages: Bool = false) {
        (self.question, self.takesAllStages) = (question, takesAllStages)
    }

    public func rows(_ samples: [SampleRow]) throws(InputError) -> [CompareRow] {
        try Comparison(sidesOf: samples, question: question).rows
    }

    /// The cells in which some judged count differs between the sides, or cannot be compared. More samples show whether
    /// that was chance.
    ///
    /// - Parameter samples: samples of counts only.
    @Sendable public func cellsOfOtherCounts(_ samples: [SampleRow]) throws -> Set<String> {
        Set(try rows(samples).filter { [.regression, .improved, .inconclusive].contains($0.verdict) }.map(\.cellID))
    }

    /// The cells with a judged figure that is undecided and that more blocks are likely to decide, or that may be
    /// improved. Counts have separate blocks.
    @Sendable public func openCells(_ samples: [SampleRow]) throws -> Set<String> {
        var question = question
        question.leavesNoisyTimes = false
        let open = try Comparison(sidesOf: samples, question: question).rows.filter {
            ($0.verdict == .inconclusive && (takesAllStages || $0.doubt?.moreBlocks != nil) || $0.mayBeImproved)
                && Metric.named($0.metric)?.isDeterministic != true
        }
        return Set(open.map(\.cellID))
    }
}
