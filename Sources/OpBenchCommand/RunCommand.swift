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
            Checks everything before it runs or writes anything. Saves the rows after every sample, so that an \
            interrupted run can continue with --resume. Never changes a finished run; --resume then prints its \
            summary. Prints the summary at the end.

            `opbench explain-columns` explains the columns of the summary.

            With --shard, measures a part of the cells. The files and the options that select what is measured \
            determine the cells of each shard, so they must be the same on every machine. The finished part is a \
            folder in --output, named after the sweep and the shard; it appears when everything is measured. Repeating \
            the command leaves a finished part unchanged, continues an interrupted part on the same machine, and starts \
            over on another one. `opbench merge` merges the parts.

            EXAMPLES
              opbench run workloads/*.json
              opbench run --quick --backend engine,dispatch workloads/*.json
              opbench run --set work_ns=0,1000 --blocks 3 workloads/*.json
              opbench run --filter submission=refill workloads/tiny-vs-batched.json
              opbench run --metric latency --format csv workloads/priority-mix.json
              opbench run --time-budget 30m workloads/*.json
              opbench run --cpus 0-3 --max-memory 4GiB workloads/*.json
              opbench run --for-gate --run-id change workloads/*.json
              opbench run --run-id nightly --resume workloads/*.json
              opbench run --shard 2/8 --output parts workloads/*.json
              opbench run --shard auto --output parts workloads/*.json
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var part: ShardOptions
    @OptionGroup var plan: PlanOptions
    @OptionGroup var limits: LimitOptions
    @OptionGroup var gate: GateRunOptions
    @OptionGroup var destination: DestinationOptions
    @OptionGroup var presentation: PresentationOptions

    @Option(
        name: .customLong("time-budget"),
        help: ArgumentHelp(
            "Spend about this long, such as 90s, 10m or 2h: 7 throughput blocks for every cell, however long they take, "
                + "then more where the intervals are widest.",
            valueName: "time"))
    var timeBudget: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Do exactly as much work for `work_ns` as that run did, to compare with it; by default the work is "
                + "calibrated again.",
            valueName: "run"))
    var calibration: String?

    @Flag(name: .customLong("no-progress"), help: "Hide progress; warnings and errors remain.")
    var hidesProgress = false

    func validate() throws {
        try selection.cells.requireFiles()
        try part.check(destination)
        if timeBudget != nil, plan.blocks != nil || plan.quick {
            throw ValidationError("--time-budget determines the number of blocks: leave out --blocks and --quick.")
        }
        if timeBudget != nil, part.text != nil {
            throw ValidationError(
                "--shard requires the same samples in every part, but --time-budget depends on the machine: leave out one."
            )
        }
        if timeBudget != nil, gate.isForGate {
            throw ValidationError("--for-gate determines the number of blocks: leave out --time-budget.")
        }
        try gate.check(selection, plan)
    }

    func run() throws {
        let runID = try destination.identifier()
        let (selection, blocks) = try gate.load(selection, plan)
        var options = plan.runOptions(in: destination.directory, runID: runID, resume: destination.resume)
        options.take(blocks)
        options.limits = try limits.checked()
        options.iterationsPerNanosecond = try knownCalibration()
        options.budget = timeBudget.map {
            TimeBudget(seconds: $0.seconds, isNeeded: IntervalWidths.isNeeded, widths: IntervalWidths.byCell)
        }
        let plan = try part.part(of: RunPlan(specs: selection.specs, options: options), isSilent: hidesProgress)
        let execution = RunExecution(selection, plan, isSilent: hidesProgress)
        let ended = try execution.run()
        try execution.show(ended, as: presentation)
        try execution.conclude(ended)
    }

    /// The calibration of the run that --calibration names.
    private func knownCalibration() throws -> Double? {
        let here = HostKind.here(on: limits.processors)
        return try calibration.map {
            try RecordedRun($0, in: destination.directory).iterationsPerNanosecond(on: here)
        }
    }
}
