import Glibc
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A run of two interleaved builds that a policy judges: `ab` makes one, `bisect` one for each step.
struct InterleavedRun {
    let execution: RunExecution
    private let options: RunOptions
    private let judgement: SideComparison
    private let drift: AnchoredComparison

    /// The rows of such a run, and their judgement.
    struct Measured {
        let ended: RunExecution.Ended
        let rows: [CompareRow]
        let run: RecordedRun
    }

    /// - Parameters:
    ///   - options: with the builds.
    ///   - anchors: the baselines of the policy.
    ///   - takesAllStages: whether an undecided cell gets more blocks even if they are unlikely to decide it.
    ///   - runID: the --run-id that continues the command; nil for the run's own.
    init(
        _ selection: Selection, policy: GatePolicy, options: RunOptions, anchors: [RecordedRun] = [], isSilent: Bool,
        takesAllStages: Bool = false, continuedBy runID: String? = nil
    ) throws {
        var options = options
        options.stageBlocks(of: selection, judgedBy: policy)
        let applied = AppliedPolicy(policy, stages: options.stages)
        let judgement = SideComparison(applied, takesAllStages: takesAllStages)
        let drift = AnchoredComparison(anchors.baselines, applied)
        (self.judgement, self.drift) = (judgement, drift)
        options.goesOn = { try judgement.openCells($0).union(drift.openCells($0)) }
        options.confirmsCounts = judgement.cellsOfOtherCounts
        self.options = options
        execution = RunExecution(
            selection, try RunPlan(specs: selection.specs, options: options), isSilent: isSilent, continuedBy: runID)
    }

    /// Measures to the end or to a signal, and keeps `compare.csv` in the run's folder.
    func measure() throws -> Measured {
        let folder = options.folder
        let save = { @Sendable (rows: [CompareRow]) in
            try WrittenFolder(folder).replace(CompareRow.fileName, by: CSVFile.text(of: rows))
        }
        let judge = { @Sendable [judgement, drift] (samples: [SampleRow]) in
            try judgement.rows(samples).adding(anchored: try drift.rows(samples))
        }
        let ended = try execution.run { summary in try save(try judge(summary.samples)) }
        let samples = ended.summary.samples
        let rows = try judge(samples)
        if ended.isCancelled || access("\(folder)/\(CompareRow.fileName)", F_OK) != 0 { try save(rows) }
        let run = RecordedRun(
            ended.folder, in: options.directory, samples: samples, facts: try RunFacts.read(in: ended.folder))
        return Measured(ended: ended, rows: rows, run: run)
    }
}

extension RunOptions {
    /// Stages the blocks of the kinds of sample that the policy judges, as far as there are layouts.
    mutating func stageBlocks(of selection: Selection, judgedBy policy: GatePolicy) {
        for spec in selection.specs { stagedKinds[spec.name] = Set(GateNeeds(of: policy, on: spec).blocks.keys) }
        if let layouts = builds?.base.layouts?.count { stagesOfSides.removeAll { $0 > layouts } }
    }
}

extension SelectionOptions {
    /// Reads the workloads and the policy for two sides. Backends that no rule judges are left out, unless --backend
    /// names them.
    ///
    /// - Parameter file: the policy file; nil for the standard policy.
    /// - Throws: `InputErrors` with the mistakes of workloads, options and policy.
    func loadJudged(by file: String?, or standard: GatePolicy) throws(InputErrors) -> (Selection, GatePolicy) {
        let mistakes = Mistakes()
        let selection = mistakes.keep(self.load)
        let policy = mistakes.keep { () throws(InputErrors) in
            try GatePolicy.forTwoSides(
                file, or: standard, on: Set(selection?.specs.flatMap(\.backends) ?? BackendID.known))
        }
        try mistakes.check()
        var judged = selection!
        if cells.backends == nil {
            mistakes.keepFirst { () throws(InputError) in try judged.keepBackends(judgedBy: policy!) }
            try mistakes.check()
        }
        return (judged, policy!)
    }
}
