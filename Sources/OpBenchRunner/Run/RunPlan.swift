import OpBenchBackends
import OpBenchModel

/// One sample to be taken: one process.
public struct PlannedSample: Sendable, Hashable {
    /// Its place in the order, from 0.
    public let index: Int
    public let cell: Cell
    public let backend: BackendID
    let flavour: SampleFlavour
    /// Within the cell and kind, from 0.
    public let block: Int
    /// Within the block, from 0.
    public let position: Int
    /// Which build; nil in a run of one.
    public let side: Side?
    /// Samples of later stages are taken only of cells that earlier ones left open.
    let stage: Int

    public var kind: SampleKind { flavour.kind }

    /// The place in the order and the flavour: `00123-latency`.
    public var id: String { Self.id(index, flavour, isRerun: false) }

    /// The id of a repeat: `00123r-latency`.
    var rerunID: String { Self.id(index, flavour, isRerun: true) }

    private static func id(_ index: Int, _ flavour: SampleFlavour, isRerun: Bool) -> String {
        let digits = String(index)
        let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
        return "\(zeros)\(digits)\(isRerun ? "r" : "")-\(flavour.rawValue)"
    }
}

/// A backend that is not run on a cell, and why.
public struct Omission: Sendable, Hashable {
    public let cell: Cell
    public let backend: BackendID
    /// `skipped` or `unsupported`.
    public let status: SampleStatus
    public let reason: String
    /// Which build; nil in a run of one.
    var side: Side?
}

/// Everything that a run will do, in its order, known before anything is run. The same workloads, options and seed give
/// the same plan.
public struct RunPlan: Sendable {
    public let specs: [WorkloadSpec]
    /// In the order in which they are taken.
    public let samples: [PlannedSample]
    public let omissions: [Omission]
    /// The names of all parameters of the run's cells, sorted: the `param.` columns.
    public let parameterNames: [String]
    let options: RunOptions

    /// The most samples of a run, omissions included: at a tenth of a second each, some three hours.
    public static let sampleLimit = 100_000

    /// - Throws: `InputError` if the filter leaves no cell, or if there are too many samples.
    public init(specs: [WorkloadSpec], options: RunOptions) throws(InputError) {
        self.specs = specs
        self.options = options
        var cells: [(spec: WorkloadSpec, cell: Cell)] = []
        for spec in specs {
            cells += spec.cells().filter { options.filter?($0.id) ?? true }.map { (spec, $0) }
        }
        guard !cells.isEmpty else {
            throw InputError(
                file: "--filter", message: "no cell is left to run",
                remedy: "see the ids of all cells in `opbench list`")
        }
        parameterNames = Set(cells.flatMap { $0.cell.parameters.keys }).sorted()
        let sides: [Side?] = options.builds == nil ? [nil] : Side.allCases
        var blocks: [Block] = []
        var omissions: [Omission] = []
        var sampleCount = 0
        for (spec, cell) in cells {
            let backends = Self.backends(of: spec, on: cell, options, &omissions)
            for kind in SampleKind.allCases where Self.wants(kind, spec, options) {
                let able = backends.filter { BackendFactory.named($0)?.kinds.contains(kind) ?? false }
                let flavours = SampleFlavour.flavours(of: kind).count
                sampleCount += options.blocks(of: kind) * able.count * flavours * sides.count
                guard sampleCount + omissions.count * sides.count <= Self.sampleLimit else {
                    throw Self.tooMany(spec)
                }
                for index in 0..<options.blocks(of: kind) {
                    let stage = kind == .throughput ? options.stages.firstIndex { index < $0 } : nil
                    blocks.append(Block(cell: cell, kind: kind, index: index, backends: able, stage: stage ?? 0))
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
        samples = Self.ordered(blocks, sides: sides, seed: options.seed)
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
        var index: Int
        var backends: [BackendID]
        var stage: Int
    }

    /// The kinds that the workload or the user lists and the shape has; and always the check, which proves what backends
    /// promise.
    private static func wants(_ kind: SampleKind, _ spec: WorkloadSpec, _ options: RunOptions) -> Bool {
        guard ShapeDefinition.of(spec.shape).kinds.contains(kind) else { return false }
        return kind == .check || (options.kinds ?? spec.metrics).contains(kind)
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
                        for flavour in SampleFlavour.flavours(of: block.kind) {
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

    /// How long the run will take, in seconds: a rough guess by typical costs of an operation.
    public func estimate() -> Double { estimate(of: samples) }

    func estimate(of samples: [PlannedSample]) -> Double {
        0.1 + samples.reduce(0) { $0 + SampleEstimate.seconds(of: $1, options) }
    }
}

/// Guesses of the time that a sample takes.
enum SampleEstimate {
    /// Starting the process and warming up.
    private static let start = 0.04
    /// Rounds until a searched rate is found.
    private static let searchTries = 20.0
    /// Threads that a pool has for blocked operations, about: Dispatch's most.
    private static let poolThreads = 64

    static func seconds(of sample: PlannedSample, _ options: RunOptions) -> Double {
        let round = roundSeconds(of: sample.cell, on: sample.backend)
        switch sample.flavour {
        case .latency where sample.cell.shape == .openLoop && sample.cell.arrivalRate == nil:
            return start + searchTries * round
        case .throughput, .latency: return start + max(1.3 * Double(options.targetNanoseconds) / 1e9, round)
        case .allocations, .heap, .calls, .check: return start + 1.2 * round
        }
    }

    private static func roundSeconds(of cell: Cell, on backend: BackendID) -> Double {
        if !cell.phases.isEmpty { return cell.phases.reduce(0) { $0 + roundSeconds(of: $1.cell, on: backend) } }
        if cell.shape == .blocking { return blockedSeconds(cell, on: backend) }
        let operations = Double(cell.operationCount)
        let threads = backend == .serial || cell.maxConcurrent == 1 ? 1.0 : 2
        let work = Double(cell.itemCount) * Double(cell.integer("work_ns")) / threads
        return (operations * nanosecondsPerOperation(of: cell, on: backend) + work) / 1e9 + pauseSeconds(cell)
    }

    private static func nanosecondsPerOperation(of cell: Cell, on backend: BackendID) -> Double {
        switch backend {
        case .serial: 2
        case _ where cell.shape == .wakeup: 30_000
        case .engine: 300
        // Foundation looks through all waiting operations whenever one ends.
        case .foundation where [.chain, .graph].contains(cell.shape):
            3000 + 80 * Double(cell.operationCount)
        case .foundation: 4000
        default: 600
        }
    }

    /// Operations that sleep take the processor's time from nobody, and each a thread: as many as the limit lets begin, or
    /// as many as pools have.
    private static func blockedSeconds(_ cell: Cell, on backend: BackendID) -> Double {
        let plan = WorkloadPlan(cell)
        let limit = backend == .serial ? 1 : min(plan.limit ?? poolThreads, poolThreads)
        let nanoseconds = plan.idealBlockedMakespan(processors: 1, limit: limit) ?? 0
        return Double(nanoseconds) / 1e9
    }

    /// What the parameters alone make a round wait.
    private static func pauseSeconds(_ cell: Cell) -> Double {
        switch cell.shape {
        case .suspendResume: Double(cell.integer("toggles")) * Double(cell.integer("hold_ns")) / 1e9
        case .wakeup:
            Double(cell.integer("operations") / cell.integer("burst")) * Double(cell.integer("pause_ns")) / 1e9
        case .openLoop: Double(cell.integer("duration_ns")) / 1e9
        default: 0
        }
    }
}
