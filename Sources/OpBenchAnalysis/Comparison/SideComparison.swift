import OpBenchModel

/// The judgement of a run of two interleaved builds, in the middle and at its end.
public struct SideComparison: Sendable {
    private let policy: GatePolicy
    private let stages: [Int]
    private let floors: KnownNoiseFloors
    private let ignoredParameters: Set<String>

    /// - Parameters:
    ///   - stages: how many blocks the cells have at the end of each stage.
    ///   - floors: of the host that the run was taken on.
    ///   - ignoredParameters: those in which matching cells may differ.
    public init(
        policy: GatePolicy, stages: [Int], floors: KnownNoiseFloors, ignoredParameters: Set<String> = []
    ) {
        self.policy = policy
        self.stages = stages
        self.floors = floors
        self.ignoredParameters = ignoredParameters
    }

    public func rows(_ samples: [SampleRow]) throws(InputError) -> [CompareRow] { try comparison(samples).rows }

    public func comparison(_ samples: [SampleRow]) throws(InputError) -> Comparison {
        try Comparison(
            sidesOf: samples,
            question: .init(
                ignoredParameters: ignoredParameters, stages: stages, noiseFloor: { floors.floor(of: $0, .paired) },
                rule: { policy.rule(for: $0) }))
    }

    /// The cells of which some judged figure could not be decided by the blocks so far, and is likely to be by more, or may
    /// be improved.
    @Sendable public func openCells(_ samples: [SampleRow]) throws -> Set<String> {
        Set(
            try rows(samples).filter {
                $0.verdict == .inconclusive && $0.doubt?.remedy == .moreBlocks || $0.mayBeImproved
            }.map(\.cellID))
    }
}
