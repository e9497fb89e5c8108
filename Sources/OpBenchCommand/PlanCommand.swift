import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// `opbench plan FILE… -o plan.json`
struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Write down what is to be measured, for several machines to measure a part each.",
        usage: "opbench plan <file> ... [-o <plan>] [<options>]",
        discussion: """
            Takes the options of `opbench run` that decide what is measured. The plan holds the workloads' texts, every cell \
            with its backends, blocks and estimated time, and the opbench that made it, which alone may run it. It names \
            itself by the digest of its contents: the same files, options and opbench make the same plan. Nothing is measured.

            With --base and --head two builds are interleaved, as by `opbench ab`; each cell gets 15 blocks without \
            --blocks. The programs must lie at the same paths where a part is measured.

            EXAMPLES
              opbench plan workloads/*.json -o plan.json
              opbench plan --for-gate --shards 8 workloads/*.json -o plan.json
              opbench plan --base old/opbench --head new/opbench w.json -o ab.json
              opbench run --plan plan.json --shard 2/8 --output parts
              opbench merge parts/* -o results/sweep
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var plan: PlanOptions
    @OptionGroup var gate: GateRunOptions

    @Option(help: ArgumentHelp("Compare this build of opbench, by its path, with --head.", valueName: "program"))
    var base: String?

    @Option(help: ArgumentHelp("With --base, the build that is judged.", valueName: "program"))
    var head: String?

    @Option(help: ArgumentHelp("Show how the plan splits into so many shards.", valueName: "n"))
    var shards: Int?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The file to write; without it, or with -, standard output.", valueName: "plan"))
    var output: String?

    func validate() throws {
        try selection.cells.requireFiles()
        try gate.check(selection, plan)
        if (base == nil) != (head == nil) { throw ValidationError("--base and --head go together.") }
        if let shards, !(1...Shard.countLimit).contains(shards) {
            throw ValidationError("--shards is \(shards); allowed is a whole number from 1 to \(Shard.countLimit).")
        }
    }

    func run() throws {
        let file = try output.flatMap { $0 == "-" ? nil : try ReportFile($0) }
        let (selection, blocks) = try gate.load(selection, plan)
        var options = plan.runOptions(for: selection)
        options.take(blocks)
        if let base, let head {
            options.builds = try PlannedBuilds.examine(base: base, head: head)
            // Stages are decided by what was measured of all cells, which no single machine knows.
            options.stagesOfSides = [FigureRule.standardMinBlocks]
        }
        for warning in selection.warnings { StandardError.say("opbench: warning: \(warning)") }
        let whole = try RunPlan(specs: selection.specs, options: options)
        let made = PlanFile(whole, program: ProgramVersion.program)
        let text = made.text
        try whole.checkDescription(planBytes: text.utf8.count)
        if let file { try ReportFile.write([(file, text)]) } else { try StandardOutput.write(text) }
        tell(made)
    }

    private func tell(_ plan: PlanFile) {
        StandardError.say(
            "opbench: the plan \(plan.sha256.prefix(12)): \(plan.cells.count) cells, \(plan.samples) samples, about "
                + Quantities.wait(seconds: plan.estimatedSeconds))
        if let shards { tell(plan.balance(count: shards).shards) }
        guard let output, output != "-" else { return }
        let words = ["run", "--plan", output, "--shard", "1/\(shards ?? 2)", "--output", "parts"]
        StandardError.say("opbench: the first of \(shards ?? 2) parts: \(ShellWords.ofThisProgram(words))")
    }

    /// How many shards are shown one by one.
    private static let shownShards = 32

    private func tell(_ shards: [(cellIDs: [String], cost: Int64)]) {
        let seconds = shards.map { Double($0.cost) / 1e9 }
        StandardError.say(
            "opbench: in \(shards.count) shards: the longest about \(Quantities.wait(seconds: seconds.max() ?? 0)), "
                + "the shortest about \(Quantities.wait(seconds: seconds.min() ?? 0))")
        for (index, shard) in shards.prefix(Self.shownShards).enumerated() {
            let cells = shard.cellIDs.count == 1 ? "1 cell" : "\(shard.cellIDs.count) cells"
            let wait = Quantities.wait(seconds: seconds[index])
            StandardError.say("opbench:   \(index + 1)/\(shards.count): \(cells), about \(wait)")
        }
        let empty = shards.count { $0.cellIDs.isEmpty }
        if empty > 0 {
            StandardError.say("opbench: warning: \(empty) of the shards \(empty == 1 ? "has" : "have") no cell")
        }
    }
}
