import OpBenchModel

extension PlanFile {
    /// Writes down what a run would measure.
    ///
    /// - Parameter program: this opbench.
    public init(_ plan: RunPlan, program: Program) {
        let omitted = Set(plan.omissions.map { Place(cellID: $0.cell.id, backend: $0.backend) })
        let specs = Dictionary(plan.specs.map { ($0.name, $0) }) { first, _ in first }
        var samples: [String: [PlannedSample]] = [:]
        for sample in plan.samples { samples[sample.cell.id, default: []].append(sample) }
        let cells = plan.cells.map { cell in
            let own = samples[cell.id] ?? []
            let listed = plan.options.backends ?? specs[cell.workload]?.backends ?? []
            return PlannedCell(
                id: cell.id, workload: cell.workload, workloadSHA256: specs[cell.workload]?.sha256 ?? "",
                parameters: cell.parameters,
                backends: listed.filter { !omitted.contains(Place(cellID: cell.id, backend: $0)) },
                sides: plan.options.builds == nil ? [] : Side.allCases,
                blocks: own.reduce(into: [:]) { $0[$1.kind] = max($0[$1.kind] ?? 0, $1.block + 1) },
                samples: own.count,
                estimatedNanoseconds: own.reduce(0) {
                    $0 + Int64((SampleEstimate.seconds(of: $1, plan.options) * 1e9).rounded())
                })
        }
        self.init(
            program: program, seed: plan.options.seed, isQuick: plan.options.isQuick,
            timeoutNanoseconds: Int64((plan.options.timeoutSeconds * 1e9).rounded()),
            builds: plan.options.builds.map { (Build($0.base), Build($0.head)) }, specs: plan.specs, cells: cells)
    }

    private struct Place: Hashable {
        var cellID: String
        var backend: BackendID
    }

    /// The options of a run that measures all of the plan.
    public func runOptions() -> RunOptions {
        let ids = Set(cells.map(\.id))
        var options = RunOptions(
            isQuick: isQuick, seed: seed, filter: { ids.contains($0) },
            timeoutSeconds: Double(timeoutNanoseconds) / 1e9)
        options.blocksOfCells = Dictionary(cells.map { ($0.id, $0.blocks) }) { first, _ in first }
        options.blocks = 1
        return options
    }

    /// What a run has to do for one of the plan's parts.
    ///
    /// - Parameters:
    ///   - file: the plan's, for messages.
    ///   - options: `runOptions()`, with where the rows go and the builds.
    ///   - program: this opbench.
    /// - Throws: `InputErrors` if this opbench would plan otherwise, so that what it measures would not be what the plan says.
    public func part(
        _ shard: Shard, file: String, options: RunOptions, program: Program
    ) throws(InputErrors) -> RunPlan {
        let whole: RunPlan
        do {
            whole = try RunPlan(specs: specs, options: options)
        } catch {
            throw InputErrors(error)
        }
        var own = PlanFile(whole, program: program)
        (own.program, own.builds) = (self.program, builds)
        guard own.sha256 == sha256 else {
            let cell = firstDifference(from: own).map { ", first in the cell \"\($0)\"" } ?? ""
            throw InputErrors(
                InputError(
                    file: file, message: "this opbench (\(program.words)) would plan otherwise\(cell)",
                    remedy: "run the plan with the opbench that made it (\(self.program.words)), or make it anew"))
        }
        return whole.restricted(to: cells(of: shard))
    }
}

extension PlanFile.Build {
    fileprivate init(_ facts: BuildFacts) { self.init(path: facts.path, sha256: facts.sha256 ?? "") }
}
