import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench run FILE…`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Measure workloads and write the results.",
        usage: "opbench run <file> ... [<options>]",
        discussion: """
            Checks everything before it measures or writes anything, saves the rows after every sample, and prints a \
            summary. An interrupted run continues with --resume; a finished run never changes.

            EXAMPLES
              opbench run workloads/*.json
              opbench run --quick --backend engine,dispatch workloads/*.json
              opbench run --filter queues --set work_ns=0,1000 workloads/*.json
              opbench run --time-budget 30m --cpus 0-3 workloads/*.json
              opbench run --precision 2% workloads/dependency-chains.json
              opbench run --run-id nightly --resume workloads/*.json
            """)

    @OptionGroup(title: OptionTitle.workloads) var selection: SelectionOptions
    @OptionGroup(title: OptionTitle.samples) var plan: PlanOptions
    @OptionGroup(title: OptionTitle.samples) var layout: LayoutOptions
    @OptionGroup(title: OptionTitle.samples) var amount: AmountOptions
    @OptionGroup(title: OptionTitle.samples) var gate: GateRunOptions
    @OptionGroup(title: OptionTitle.results) var destination: DestinationOptions
    @OptionGroup(title: OptionTitle.results) var presentation: PresentationOptions
    @OptionGroup(title: OptionTitle.results) var progress: ProgressOptions
    @OptionGroup(title: OptionTitle.limits) var limits: LimitOptions
    @OptionGroup(title: OptionTitle.machines) var part: ShardOptions

    /// The amount of samples and of their work, as only `run` determines it.
    struct AmountOptions: ParsableArguments {
        @Option(
            name: .customLong("time-budget"),
            help: ArgumentHelp(
                "Spend about this long, such as 90s, 10m or 2h.",
                discussion: """
                    Every cell gets 7 throughput blocks, however long they take; then those with the widest intervals \
                    get more.
                    """,
                valueName: "time"), transform: FormedArgument.seconds)
        var timeBudget: Double?

        @Option(
            help: ArgumentHelp(
                "Measure until the intervals of all ratios are as narrow: 2% is ±2%.",
                discussion: """
                    Those of each backend's time ÷ the baseline's within blocks; in a cell without a ratio, those of \
                    time/op. Every cell gets 7 throughput blocks; then those with the widest intervals get more, \
                    \(TimeBudget.mostBlocks) at most, until all are narrow enough or --time-budget is spent, by default \
                    10m. A line says which cells are not.
                    """,
                valueName: "percent"), transform: FormedArgument.part)
        var precision: Double?

        /// The option that determines the number of blocks; nil if none of them does.
        var option: String? { precision != nil ? "--precision" : timeBudget != nil ? "--time-budget" : nil }

        var budget: TimeBudget? {
            guard option != nil else { return nil }
            return TimeBudget(
                seconds: timeBudget ?? TimeBudget.secondsForPrecision, precision: precision,
                isNeeded: IntervalWidths.isNeeded,
                widths: IntervalWidths.ofRatios)
        }

        @Option(
            help: ArgumentHelp(
                "Do exactly as much work for `work_ns` as that run did, to compare with it.", valueName: "run"),
            completion: .run)
        var calibration: String?
    }

    func validate() throws {
        try selection.cells.requireFiles()
        try part.check(destination)
        if let option = amount.option {
            if plan.blocks != nil || plan.quick {
                throw ValidationError("\(option) determines the number of blocks: leave out --blocks and --quick.")
            }
            if part.text != nil {
                throw ValidationError(
                    "--shard requires the same samples in every part, but \(option) depends on the machine: leave out one."
                )
            }
            if gate.isForGate {
                throw ValidationError("--for-gate determines the number of blocks: leave out \(option).")
            }
        }
        try gate.check(selection, plan)
        try layout.check(plan)
        if layout.layouts != nil, part.text != nil || amount.option != nil || plan.quick {
            throw ValidationError(
                "--layouts determines the number of blocks: leave out --shard, --time-budget, --precision and --quick.")
        }
    }

    func run() throws {
        let runID = try destination.identifier()
        let (selection, blocks) = try gate.load(selection, plan)
        var options = try plan.runOptions(of: selection, in: destination, as: runID, limits)
        options.take(blocks)
        options.calibration = try calibratedMachine()?.calibration
        options.budget = amount.budget
        if let layouts = layout.layouts {
            try gate.check(layout)
            if options.blocks == nil {
                for kind in [SampleKind.throughput, .latency] where blocks[kind] == nil {
                    options.blocksOfKinds[kind] = layouts
                }
            }
        }
        let plan = try part.part(of: RunPlan(specs: selection.specs, options: options), isSilent: progress.isHidden)
        if amount.precision != nil, !plan.samples.contains(where: { $0.kind == .throughput }) {
            throw InputError(
                file: "--precision", message: "no cell has throughput samples, whose intervals it is about",
                remedy: "add the kind to --metric and to \"sample_kinds\", or leave the option out")
        }
        let programs = try layout.layouts.map { layouts in
            let built = try RefOptions.buildCheckedOut(layouts: layouts).base
            return SamplePrograms.one(try CancellableWork.finish { try await BuildFacts.examine(built) })
        }
        try RunExecution(plan, by: programs, warnings: selection.warnings, isSilent: progress.isHidden)
            .run(shownAs: presentation)
    }

    /// The machine of the run that --calibration names.
    private func calibratedMachine() throws -> RunMachine? {
        let here = Host.read(on: limits.processors).kind
        return try amount.calibration.map {
            try MeasuredRun($0, in: destination.directory).machine(like: here)
        }
    }
}
