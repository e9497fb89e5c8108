import OpBenchBackends
import OpBenchModel

/// A backend that is not run on a cell, and why.
public struct Omission: Sendable, Hashable {
    public let cell: Cell
    public let backend: BackendID
    /// `skipped` or `unsupported`.
    public let status: SampleStatus
    public let reason: String
    /// Which build; nil in a run of one.
    var side: Side?
    /// Its place among those of the whole plan, from 0.
    var index = 0

    /// The id of its row: `omitted-3`.
    var id: String { "omitted-\(index)" }
}

/// Everything that a run will do, in its order, known before anything is run. The same workloads, options and seed give
/// the same plan.
public struct RunPlan: Sendable {
    public let specs: [WorkloadSpec]
    /// Those that are run, in the order of the files.
    public private(set) var cells: [Cell]
    /// In the order in which they are taken.
    public private(set) var samples: [PlannedSample]
    /// More samples of the counts that barely vary, by block. A run takes those that it needs: see `CountAgreement`.
    private(set) var reserve: [PlannedSample] = []
    public private(set) var omissions: [Omission]
    /// The names of all parameters of the run's cells, sorted: the `param_` columns.
    public let parameterNames: [String]
    /// Those that it was made with.
    public internal(set) var options: RunOptions

    /// The most samples of a run, omissions included: at a tenth of a second each, some three hours.
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
        let sides: [Side?] = options.builds == nil ? [nil] : Side.allCases
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
                let more = kind == .memory ? options.moreBlocksOfCounts(in: spec.name) : 0..<0
                // The cell's rows are about the first kind.
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
                // Staged by their own block, so that all cells get one before any gets two.
                blocksOfCounts += more.map {
                    Block(
                        cell: cell, kind: kind, flavours: [.allocations], index: $0, backends: able,
                        stage: options.stages.count + $0)
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
            file: spec.file, message: "with this file the run has more than \(sampleLimit) samples",
            remedy: "shorten the lists, run fewer files at once, or ask for less with --filter, --backend, --metric "
                + "or --blocks")
    }

    /// One sample of every backend of a cell, back to back.
    private struct Block {
        var cell: Cell
        var kind: SampleKind
        /// The flavours of the kind; nil for all.
        var flavours: [SampleFlavour]?
        var index: Int
        var backends: [BackendID]
        var stage: Int
    }

    /// The kinds that the workload or the user lists and the shape has; and always the check, which proves what backends
    /// promise.
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

    /// Stage after stage, the blocks of each in random order, and within a block the backends. The sides of a backend
    /// stand side by side, since they are what is compared, and toss for who comes first.
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

    /// Leaves the other cells out, and what is taken beyond the planned samples. What stays keeps its place and its id.
    mutating func keep(_ isKept: (Cell) -> Bool) {
        cells.removeAll { !isKept($0) }
        samples.removeAll { !isKept($0.cell) }
        reserve = []
        omissions.removeAll { !isKept($0.cell) }
    }

    /// How long the run will take, in seconds: a rough guess by typical costs of an operation.
    public func estimate() -> Double { estimate(of: samples) }

    func estimate(of samples: [PlannedSample]) -> Double {
        0.1 + samples.reduce(0) { $0 + SampleEstimate.seconds(of: $1, options) }
    }
}

/// What a backend says of a cell, without making any of it.
public enum BackendSupport: Sendable, Equatable {
    /// It executes the cell; the note names what differs in meaning, if anything does.
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
