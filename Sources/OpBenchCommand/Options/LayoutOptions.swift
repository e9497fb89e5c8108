import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `--layouts`: the number of random layouts in which each program is linked.
struct LayoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Link each program in this many random layouts, 15 to 40; blocks take turns.",
            discussion: """
                Builds commits of the package here, compiled once. Intervals then include what the order of code and \
                data makes of a program, which no number of blocks of one program shows.
                """,
            valueName: "n"))
    var layouts: Int?

    /// Fewer units than a regression needs would decide nothing; more than the exact test can take are not used.
    static let allowed = FigureRule.standardMinBlocks...signFlipLimit

    func validate() throws {
        let (least, most) = (Self.allowed.lowerBound, Self.allowed.upperBound)
        try NumberArgument.check(
            layouts, option: "--layouts", in: Self.allowed, "is a whole number from \(least) to \(most)")
    }

    /// Refuses blocks that would use some layouts more often than others.
    func check(_ plan: PlanOptions) throws {
        guard let layouts, let blocks = plan.blocks, blocks > layouts, !blocks.isMultiple(of: layouts) else { return }
        throw ValidationError(
            "--blocks \(blocks) is no multiple of \(layouts) layouts: give --layouts \(blocks), or leave out --blocks."
        )
    }

    /// Refuses rules that need more blocks than there are layouts, since they would never decide.
    ///
    /// - Parameter file: the policy's; nil for a standard one.
    func check(_ policy: GatePolicy, file: String?) throws(InputError) {
        guard let layouts else { return }
        for (index, rule) in policy.rules.enumerated() where rule.figure.minBlocks > layouts {
            let least = rule.figure.minBlocks
            let most = min(least, Self.allowed.upperBound)
            throw InputError(
                file: file ?? "--policy", path: "$.rules[\(index)]",
                message: "the rule needs \(least) blocks, but each block is another one of \(layouts) layouts",
                remedy: least == most ? "give --layouts \(least)" : "lower min_blocks to \(most) or less")
        }
    }
}
