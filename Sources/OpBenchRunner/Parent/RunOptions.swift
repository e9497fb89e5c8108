import OpBenchModel

/// What the user asked of a run beside the workloads.
public struct RunOptions: Sendable {
    /// Instead of the workloads' own; nil leaves those.
    public var backends: [BackendID]?
    /// Instead of the workloads' own; nil leaves those.
    public var kinds: Set<SampleKind>?
    /// The number of blocks of every kind; nil for the defaults.
    public var blocks: Int?
    /// Blocks of single kinds, in place of what the options say otherwise.
    public var blocksOfKinds: [SampleKind: Int] = [:]
    /// One block of each kind and shorter samples.
    public var isQuick: Bool
    /// Orders the blocks; plans are shaped by the workloads' own seeds.
    public var seed: UInt64
    /// A sample that takes longer is ended.
    public var timeoutSeconds: Double
    /// The folder of runs; the run's own folder in it has the name `runID`.
    public var directory: String
    public var runID: String
    /// What the processes of all samples are held to.
    public var limits = SampleLimits()
    /// Go on with a run that was ended.
    public var resume: Bool
    /// The command line, for `run.json`.
    public var arguments: [String]
    /// Iterations of the work kernel for a nanosecond, as another run has them; nil to measure them.
    public var iterationsPerNanosecond: Double?
    /// Two builds to interleave; nil for this one alone.
    public var builds: ComparedBuilds?
    /// A time to spend where figures are least certain; nil for as many blocks as the options say.
    public var budget: TimeBudget?
    /// How many blocks two interleaved builds have at the end of each stage.
    public var stagesOfSides = BlockStages.standard
    /// The kinds of sample, beside throughput, whose blocks come in these stages: by workload, those with judged
    /// figures that vary.
    public var stagedKinds: [String: Set<SampleKind>] = [:]
    /// The machine's name, as rows have it.
    public var host = MachineName.own
    /// The part of a sweep that the run is; nil for a run of its own. See `RunPlan.part`.
    public internal(set) var sweep: SweepFacts?
    /// Asked after each stage of a run whose blocks come in stages: the ids of the cells that go on to the next one.
    public var goesOn: @Sendable (_ rows: [SampleRow]) throws -> Set<String> = { Set($0.map(\.cellID)) }

    /// Called block by block with samples of counts. Returns the ids of the cells in which more samples are to confirm
    /// a difference between the sides.
    public var confirmsCounts: @Sendable (_ rows: [SampleRow]) throws -> Set<String> = { _ in [] }

    public init(
        backends: [BackendID]? = nil, kinds: Set<SampleKind>? = nil, blocks: Int? = nil, isQuick: Bool = false,
        seed: UInt64 = 1, timeoutSeconds: Double = 30,
        directory: String = "results", runID: String = "", resume: Bool = false, arguments: [String] = []
    ) {
        self.backends = backends
        self.kinds = kinds
        self.blocks = blocks
        self.isQuick = isQuick
        self.seed = seed
        self.timeoutSeconds = timeoutSeconds
        self.directory = directory
        self.runID = runID
        self.resume = resume
        self.arguments = arguments
    }

    /// The run's folder while it goes on; a part of a sweep gets another name when it is finished.
    public var folder: String { "\(directory)/\(sweep.map { _ in ".\(runID).\(host)" } ?? runID)" }
    /// What gives the run another folder, for remedies. A part takes no `--run-id`.
    var otherFolder: String { sweep == nil ? "another --run-id" : "another --output" }

    /// How long a timed sample should last, in nanoseconds.
    var targetNanoseconds: Int64 { isQuick ? 20_000_000 : SampleRequest.shortLimit }

    /// How many blocks a cell has at the end of each stage; a single number if all are taken at once.
    ///
    /// Two interleaved builds: `stagesOfSides`, unless the number of blocks is given. With a budget, the second stage is
    /// what may be taken, block by block.
    public var stages: [Int] {
        if budget != nil { return TimeBudget.stages }
        if builds != nil, blocks == nil, !isQuick { return stagesOfSides }
        return [blocks(of: .throughput, in: "", isMain: true)]
    }

    /// The numbers of the blocks that counts may get beyond those of every memory sample; empty if the number of blocks
    /// is given.
    func moreBlocksOfCounts(in workload: String) -> Range<Int> {
        let first = blocks(of: .memory, in: workload, isMain: false)
        let isGiven = givenBlocks(of: .memory) != nil
        return isGiven || isQuick ? first..<first : first..<max(first, CountAgreement.mostBlocks)
    }

    /// Whether blocks of a kind come in the stages of two builds.
    func isStaged(_ kind: SampleKind, in workload: String) -> Bool {
        kind == .throughput || builds != nil && stagedKinds[workload]?.contains(kind) == true
    }

    private func givenBlocks(of kind: SampleKind) -> Int? { blocksOfKinds[kind] ?? blocks }

    /// Blocks of a kind.
    ///
    /// - Parameter isMain: whether the cell's rows are about this kind, as they are about latencies where a cell has no
    ///   throughput. Such a kind gets as many blocks as screening takes.
    func blocks(of kind: SampleKind, in workload: String, isMain: Bool) -> Int {
        if let count = givenBlocks(of: kind) { return count }
        if isQuick { return 1 }
        if builds != nil, isStaged(kind, in: workload) { return stagesOfSides.last! }
        return switch kind {
        case .throughput where budget != nil: TimeBudget.stages.last!
        case .throughput: BlockStages.standard[0]
        case .latency: isMain ? BlockStages.standard[0] : 3
        case .memory: 2
        case .check: 1
        }
    }
}
