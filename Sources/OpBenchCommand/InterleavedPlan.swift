import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// The plan of two interleaved builds that a policy judges: `ab` runs it once, `bisect` once for each step.
struct InterleavedPlan {
    let plan: RunPlan
    let judge: RunExecution.Judge

    /// - Parameters:
    ///   - layouts: the number of layouts in which each program is linked; nil for one program each.
    ///   - anchors: the baselines of the policy.
    ///   - takesAllStages: whether an undecided cell gets more blocks even if they are unlikely to decide it.
    /// - Throws: `InputError` for mistakes in the plan.
    init(
        _ selection: Selection, policy: GatePolicy, options: RunOptions, layouts: Int?, anchors: [MeasuredRun] = [],
        takesAllStages: Bool = false
    ) throws(InputError) {
        var options = options
        options.hasSides = true
        // The kinds of sample that the policy judges, as far as there are layouts.
        for spec in selection.specs {
            options.stagedKinds[spec.name] = Set(GateNeeds(of: policy, on: spec).blocks.keys)
        }
        if let layouts { options.stagesOfSides.removeAll { $0 > layouts } }
        let question = Comparison.Question(policy, stages: options.stages)
        let sides = SideComparison(question, takesAllStages: takesAllStages)
        let drift = AnchoredComparison(anchors.baselines, question)
        options.goesOn = { try sides.openCells($0).union(drift.openCells($0)) }
        options.confirmsCounts = sides.cellsOfOtherCounts
        plan = try RunPlan(specs: selection.specs, options: options)
        judge = { try sides.rows($0).adding(anchored: try drift.rows($0)) }
    }
}

extension SelectionOptions {
    /// Reads the workloads and the policy for two sides.
    ///
    /// - Parameter file: the policy file; nil for the standard policy.
    /// - Throws: as `load(judgedBy:)`.
    func loadJudged(by file: String?, or standard: GatePolicy) throws(InputErrors) -> (Selection, GatePolicy) {
        try load { backends throws(InputErrors) in try .forTwoSides(file, or: standard, on: backends) }
    }
}
