import OpBenchBackends
import OpBenchModel

/// A backend that does not run on a cell, and the reason.
public struct Omission: Sendable, Hashable {
    public let cell: Cell
    public let backend: BackendID
    /// `skipped` or `unsupported`.
    public let status: SampleStatus
    public let reason: String
    /// The build; nil in a run of one build.
    var side: Side?
    /// Its position among the omissions of the whole plan, from 0.
    var index = 0

    /// The id of its row: `omitted-3`.
    var id: String { "omitted-\(index)" }
}

/// Everything that a run will do, in order, known before anything runs. The same workloads, options and seed give the
/// same plan.
public struct RunPlan: Sendable {
    public let specs: [WorkloadSpec]
    /// The cells to run, in the order of the files.
    public private(set) var cells: [Cell]
    /// The samples, in the order in which they are taken.
    public private(set) var samples: [PlannedSample]
    /// Additional samples of counts that barely vary, by block. A run takes only those that it needs, see
    /// `CountAgreement`.
    private(set) var reserve: [PlannedSample] = []
    public private(set) var omissions: [Omission]
    /// The sorted names of all parameters of the run's cells, which are the `param_` columns.
    public let parameterNames: [String]
    /// The options that it was made with.
    public internal(set) var options: RunOptions
    /// The digest of everything that decides what the parts of a sweep measure; nil for a whole plan.
    public internal(set) var sweep: String?
    /// The part of the sweep, see `part`; nil for a whole plan.
    public internal(set) var shard: ShardFacts?

    /// The maximum number of samples of a run, including omissions: about three hours at a tenth of a second each.
    public static let sampleLimit = 100_000

    /// - Throws: `InputError` if no cell is selected, or if there are too many samples.
    public init(specs: [WorkloadSpec], options: RunOptions) throws(InputError) {
        self.specs = specs
        self.options = options
        cells = specs.flatMap(\.cells)
        guard !cells.isEmpty else {
            throw InputError(
                file: "--filter", message: "no cell is left to run",
                remedy: "see the ids of all cells in `opbench list`")
        }
        parameterNames = Set(cells.flatMap(\.parameters.keys)).sorted()
        let sides: [Side?] = options.hasSides ? Side.allCases : [nil]
        var blocks: [Block] = []
        var blocksOfCounts: [Block] = []
        var omissions: [Omission] = []
        var sampleCount = 0
        for (spec, cell) in specs.flatMap({ spec in spec.cells.map { (spec, $0) } }) {
            let backends = Self.backends(of: spec, on: cell, options, &omissions)
            let kinds = SampleKind.allCases.filter { Self.wants($0, spec, options) }
            for kind in kinds {
                let able = backends.filter { BackendFactory.named($0)?.kinds.contains(kind) ?? false }
                let flavours = SampleFlavour.flavours(of: kind).count
                let more = options.moreBlocksOfCounts(of: kind, in: spec.name)
                // A cell's main kind is its first.
                let isMain = kind == kinds.first
                let count = options.blocks(of: kind, in: spec.name, isMain: isMain)
                sampleCount += (count * flavours + more.count) * able.count * sides.count
                guard sampleCount + omissions.count * sides.count <= Self.sampleLimit else {
                    throw Self.tooMany(spec)
                }
                let isStaged = options.isStaged(kind, in: spec.name)
                for index in 0..<count {
                    let stage = isStaged ? options.stages.firstIndex { index < $0 } : nil
                    blocks.append(Block(cell: cell, kind: kind, index: index, backends: able, stage: stage ?? 0))
                }
                // One stage per block: all cells get a first additional block before any gets a second.
                blocksOfCounts += more.map {
                    Block(
                        cell: cell, kind: kind, flavours: [kind == .memory ? .allocations : .instructions], index: $0,
                        backends: able, stage: options.stages.count + $0)
                }
            }
        }
        self.omissions = sides.flatMap { side in
            omissions.map { omission in
                var omission = omission
                omission.side = side
                return omission
            }
        }
        for index in self.omissions.indices { self.omissions[index].index = index }
        samples = Self.ordered(blocks + blocksOfCounts, sides: sides, seed: options.seed)
        let first = samples.firstIndex { $0.stage >= options.stages.count } ?? samples.endIndex
        reserve = Array(samples[first...])
        samples.removeSubrange(first...)
    }

    private static func tooMany(_ spec: WorkloadSpec) -> InputError {
        InputError(
            file: spec.file, message: "with this file, the run has more than \(sampleLimit) samples",
            remedy: "shorten the lists, run fewer files at once, or select less with --filter, --backend, --metric "
                + "or --blocks")
    }

    /// One sample of every backend of a cell, in sequence.
    private struct Block {
        var cell: Cell
        var kind: SampleKind
        /// The flavours to take; nil for all of the kind.
        var flavours: [SampleFlavour]?
        var index: Int
        var backends: [BackendID]
        var stage: Int
    }

    /// Whether to take samples of a kind: the workload or the user lists it and the shape has it. Checks are always
    /// taken, because they prove what backends promise.
    private static func wants(_ kind: SampleKind, _ spec: WorkloadSpec, _ options: RunOptions) -> Bool {
        guard ShapeDefinition.of(spec.shape).kinds.contains(kind) else { return false }
        return kind == .check || (options.kinds ?? spec.sampleKinds).contains(kind)
    }

    private static func backends(
        of spec: WorkloadSpec, on cell: Cell, _ options: RunOptions, _ omissions: inout [Omission]
    ) -> [BackendID] {
        let plan = WorkloadPlan.forSupport(cell)
        return (options.backends ?? spec.backends).filter { backend in
            if let rule = spec.skipRule(for: backend, in: cell) {
                omissions.append(Omission(cell: cell, backend: backend, status: .skipped, reason: rule.reason))
                return false
            }
            guard case .unsupported(let reason) = BackendFactory.named(backend)?.supports(plan) else { return true }
            omissions.append(Omission(cell: cell, backend: backend, status: .unsupported, reason: reason))
            return false
        }
    }

    /// Orders blocks by stage, shuffles the blocks of each stage and the backends within a block. The two sides of a
    /// backend are adjacent, since they are compared, in random order.
    private static func ordered(_ blocks: [Block], sides: [Side?], seed: UInt64) -> [PlannedSample] {
        var generator = SplitMix64(seed: seed)
        var samples: [PlannedSample] = []
        for stage in Set(blocks.map(\.stage)).sorted() {
            for block in generator.shuffled(blocks.filter { $0.stage == stage }) {
                var position = 0
                for backend in generator.shuffled(block.backends) {
                    for side in generator.shuffled(sides) {
                        for flavour in block.flavours ?? SampleFlavour.flavours(of: block.kind) {
                            samples.append(
                                PlannedSample(
                                    index: samples.count, cell: block.cell, backend: backend, flavour: flavour,
                                    block: block.index, position: position, side: side, stage: stage))
                            position += 1
                        }
                    }
                }
            }
        }
        return samples
    }

    /// Removes the other cells and the additional samples. Remaining samples keep their positions and ids.
    mutating func keep(_ isKept: (Cell) -> Bool) {
        cells.removeAll { !isKept($0) }
        samples.removeAll { !isKept($0.cell) }
        reserve = []
        omissions.removeAll { !isKept($0.cell) }
    }

    /// The same plan as another run, or as the rest of it.
    public func named(_ runID: String, resume: Bool) -> RunPlan {
        var plan = self
        (plan.options.runID, plan.options.resume) = (runID, resume)
        return plan
    }

    /// The estimated duration of the run in seconds, from typical costs per operation.
    public func estimate() -> Double { estimate(of: samples) }

    func estimate(of samples: [PlannedSample]) -> Double {
        0.1 + samples.reduce(0) { $0 + options.estimate(of: $1) }
    }
}

/// The part of a sweep that a run measures, as recorded in `run.json`.
public struct ShardFacts: Codable, Sendable, Equatable {
    public var part: Shard
    /// The ids of its cells, sorted, including cells where nothing can be measured.
    public var cells: [String]
    /// The number of cells of all shards.
    public var allCells: Int

    enum CodingKeys: String, CodingKey {
        case part, cells
        case allCells = "all_cells"
    }
}

/// A backend's support for a cell, determined without making any part of it.
public enum BackendSupport: Sendable, Equatable {
    /// It executes the cell; the note names what differs in meaning, if anything.
    case full(note: String)
    case unsupported(reason: String)

    /// - Parameter backend: one that is defined for the cell's shape.
    public init(of cell: Cell, on backend: BackendID) {
        switch BackendFactory.named(backend)?.supports(.forSupport(cell)) {
        case .full(let note): self = .full(note: note)
        case .unsupported(let reason): self = .unsupported(reason: reason)
        case nil: self = .unsupported(reason: "this program does not have it")
        }
    }
}
