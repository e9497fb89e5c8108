import OpBenchBackends
import OpBenchModel

/// The user's options for a run, without the workloads.
public struct RunOptions: Sendable {
    /// Replaces the workloads' backends; nil keeps them.
    public var backends: [BackendID]?
    /// Replaces the workloads' kinds of sample; nil keeps them.
    public var kinds: Set<SampleKind>?
    /// The option that names kinds of sample which are taken on request; nil if the workloads name them. If this
    /// machine cannot take such samples, a run asked for by an option is refused; otherwise it leaves them out.
    public var optionOfKinds: String?
    /// The number of blocks of every kind; nil for the defaults.
    public var blocks: Int?
    /// Blocks of single kinds, which override the other options.
    public var blocksOfKinds: [SampleKind: Int] = [:]
    /// Takes one block of each kind, and shorter samples.
    public var isQuick = false
    /// Seeds the order of blocks; the workloads' own seeds shape the plans.
    public var seed: UInt64 = 1
    /// Time limit of a sample; nil for one that follows from what the sample is planned to take.
    public var timeoutSeconds: Double?
    /// The folder of all runs; the run's own folder in it is named `runID`.
    public var directory = "results"
    public var runID = ""
    /// Limits of all sample processes.
    public var limits = SampleLimits()
    /// Resume a run that was interrupted.
    public var resume = false
    /// The command line, for `run.json`.
    public var arguments: [String] = []
    /// The work kernel's speed, from another run; nil to calibrate.
    package var calibration: WorkKernel?
    /// Whether two builds are interleaved, which are known when the run begins.
    public var hasSides = false
    /// The names of the commits that the two builds were made from; nil for built programs.
    public var refs: ComparedRefs?
    /// The values of parameters that replace those of the workloads: `depth=10,20`.
    public var settings: [String] = []
    /// A time to spend on the least certain figures; nil for a fixed number of blocks.
    public var budget: TimeBudget?
    /// The number of blocks that two interleaved builds have at the end of each stage.
    public var stagesOfSides = BlockStages.standard
    /// By workload, the kinds of sample besides throughput whose blocks are staged: those with judged figures that
    /// vary.
    public var stagedKinds: [String: Set<SampleKind>] = [:]
    /// The machine's name in rows.
    public var host = Host.ownName
    /// Called after each stage of a staged run. Returns the ids of the cells that continue with the next stage.
    public var goesOn: @Sendable (_ rows: [SampleRow]) throws -> Set<String> = { Set($0.map(\.cellID)) }

    /// Called after each block of counts. Returns the ids of the cells that need more samples to confirm a difference
    /// between the sides.
    public var confirmsCounts: @Sendable (_ rows: [SampleRow]) throws -> Set<String> = { _ in [] }

    /// The options of a run without any.
    public static let standard = RunOptions()

    /// The run's folder.
    public var folder: String { "\(directory)/\(runID)" }

    /// The estimated duration of a sample, in seconds.
    func estimate(of sample: PlannedSample) -> Double {
        SampleEstimate.seconds(
            of: sample.cell, on: sample.backend, sample.flavour, targetNanoseconds: targetNanoseconds)
    }

    /// The time limit of a sample, in seconds.
    public func timeLimit(of cell: Cell, on backend: BackendID, _ flavour: SampleFlavour) -> Double {
        timeoutSeconds
            ?? TimeLimitOfSample.seconds(
                planned: SampleEstimate.seconds(of: cell, on: backend, flavour, targetNanoseconds: targetNanoseconds))
    }

    /// Intended duration of a timed sample, in nanoseconds.
    var targetNanoseconds: Int64 { isQuick ? 20_000_000 : SampleRequest.shortLimit }

    /// The number of blocks that a cell has at the end of each stage; a single number if there is one stage.
    ///
    /// Two interleaved builds use `stagesOfSides`, unless the user sets the number of blocks. With a budget, the second
    /// stage holds the blocks that the run may take one by one.
    public var stages: [Int] {
        if budget != nil { return TimeBudget.stages }
        if hasSides, blocks == nil, !isQuick { return stagesOfSides }
        return [blocks(of: .throughput, in: "", isMain: true)]
    }

    /// The block numbers that counts of a kind may use beyond the blocks of every sample of it; empty if the user sets
    /// the number of blocks, and for other kinds.
    func moreBlocksOfCounts(of kind: SampleKind, in workload: String) -> Range<Int> {
        guard kind.isOfCounts else { return 0..<0 }
        let first = blocks(of: kind, in: workload, isMain: false)
        let isGiven = givenBlocks(of: kind) != nil
        return isGiven || isQuick ? first..<first : first..<max(first, CountAgreement.mostBlocks)
    }

    /// Whether blocks of a kind are staged.
    func isStaged(_ kind: SampleKind, in workload: String) -> Bool {
        kind == .throughput || hasSides && stagedKinds[workload]?.contains(kind) == true
    }

    private func givenBlocks(of kind: SampleKind) -> Int? { blocksOfKinds[kind] ?? blocks }

    /// The number of blocks of a kind.
    ///
    /// - Parameter isMain: whether this is the cell's main kind, as latency is for a cell without throughput. The main
    ///   kind gets as many blocks as screening needs.
    func blocks(of kind: SampleKind, in workload: String, isMain: Bool) -> Int {
        if let count = givenBlocks(of: kind) { return count }
        if isQuick { return 1 }
        if hasSides, isStaged(kind, in: workload) { return stagesOfSides.last! }
        return switch kind {
        case .throughput where budget != nil: TimeBudget.stages.last!
        case .throughput: BlockStages.standard[0]
        case .latency, .counters: isMain ? BlockStages.standard[0] : 3
        case .memory, .instructions: 2
        case .check: 1
        }
    }
}
