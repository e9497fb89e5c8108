import OpBenchModel

/// The judgement of a run of two interleaved builds, during the run and at its end.
public struct SideComparison: Sendable {
    private let policy: GatePolicy
    private let stages: [Int]
    private let floors: KnownNoiseFloors
    private let ignoredParameters: Set<String>
    private let takesAllStages: Bool

    /// - Parameters:
    ///   - stages: the number of blocks per cell at the end of each stage.
    ///   - floors: the noise floors of the run's host.
    ///   - ignoredParameters: the parameters in which matching cells may differ.
    ///   - takesAllStages: whether an undecided cell gets more blocks even if they are unlikely to decide it.
    public init(
        policy: GatePolicy, stages: [Int], floors: KnownNoiseFloors, ignoredParameters: Set<String> = [],
        takesAllStages: Bool = false
    ) {
        self.policy = policy
        self.stages = stages
        self.floors = floors
        self.ignoredParameters = ignoredParameters
        self.takesAllStages = takesAllStages
    }

    public func rows(_ samples: [SampleRow]) throws(InputError) -> [CompareRow] {
        try Comparison(sidesOf: samples, question: question(on: samples)).rows
    }

    private func question(on samples: [SampleRow]) -> Comparison.Question {
        let kind: ComparisonKind = samples.contains { $0.layout != nil } ? .layouts : .paired
        var question = Comparison.Question(
            ignoredParameters: ignoredParameters, stages: stages,
            noiseFloor: { floors.floor(of: $0, kind) ?? floors.floor(of: $0, .paired) }, rule: { policy.rule(for: $0) })
        question.comparisons = policy.comparisons
        return question
    }

    /// The cells in which some judged count differs between the sides while the samples of each side agree. More
    /// samples show whether the difference was chance.
    ///
    /// - Parameter samples: samples of counts only.
    @Sendable public func cellsOfOtherCounts(_ samples: [SampleRow]) throws -> Set<String> {
        Set(try rows(samples).filter { [.regression, .improved].contains($0.verdict) }.map(\.cellID))
    }

    /// The cells with a judged figure that is undecided and that more blocks are likely to decide, or that may be
    /// improved. Counts have separate blocks.
    @Sendable public func openCells(_ samples: [SampleRow]) throws -> Set<String> {
        var question = question(on: samples)
        question.leavesNoisyTimes = false
        let open = try Comparison(sidesOf: samples, question: question).rows.filter {
            ($0.verdict == .inconclusive && (takesAllStages || $0.doubt?.moreBlocks != nil) || $0.mayBeImproved)
                && Metric.named($0.metric)?.isDeterministic != true
        }
        return Set(open.map(\.cellID))
    }
}
