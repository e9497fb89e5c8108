import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `--layouts`: the number of random layouts in which each program is linked.
struct LayoutOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Link each program in this many random layouts, 15 to 40; every block uses another.",
            discussion: """
                Builds commits of the package here, compiled once. Intervals then include what the order of code and \
                data makes of a program, which no number of blocks of one program shows.
                """,
            valueName: "n"))
    var layouts: Int?

    /// Fewer units than a regression needs would decide nothing; more than the exact test can take are not used.
    static let allowed = FigureRule.standardMinBlocks...signFlipLimit

    func validate() throws {
        if let layouts, !Self.allowed.contains(layouts) {
            let (least, most) = (Self.allowed.lowerBound, Self.allowed.upperBound)
            throw ValidationError("--layouts is \(layouts); allowed is a whole number from \(least) to \(most).")
        }
    }

    /// Refuses blocks that would use a layout twice.
    func check(_ plan: PlanOptions) throws {
        guard let layouts, let blocks = plan.blocks, blocks > layouts else { return }
        throw ValidationError(
            "--blocks \(blocks) needs as many layouts: give --layouts \(blocks), or leave out --blocks.")
    }
}
