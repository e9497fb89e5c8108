import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// `opbench run FILE…`
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Measure workloads and write the rows.",
        discussion: """
            Checks everything before it runs or writes anything. Saves the rows after every sample, so that an \
            interrupted run can continue with --resume. Never changes a finished run: --resume then prints its summary. \
            Prints the summary at the end.

            `opbench explain-columns` says what each column of the summary is.

            EXAMPLES
              opbench run workloads/*.json
              opbench run --quick --backend engine,dispatch workloads/*.json
              opbench run --set work_ns=0,1000 --blocks 3 workloads/*.json
              opbench run --filter submission=refill workloads/tiny-vs-batched.json
              opbench run --metric latency --format csv workloads/priority-mix.json
              opbench run --time-budget 30m workloads/*.json
              opbench run --for-gate --run-id change workloads/*.json
              opbench run --run-id nightly --resume workloads/*.json
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var plan: PlanOptions
    @OptionGroup var gate: GateRunOptions
    @OptionGroup var destination: DestinationOptions
    @OptionGroup var presentation: PresentationOptions

    @Option(
        name: .customLong("time-budget"),
        help: ArgumentHelp(
            "Spend about this long, such as 90s, 10m or 2h: six throughput blocks for every cell, however long they take, "
                + "then more where the intervals are widest.",
            valueName: "time"))
    var timeBudget: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Do exactly the work for `work_ns` that this run did, to compare with it; without it the work is "
                + "calibrated anew.",
            valueName: "run"))
    var calibration: String?

    @Flag(name: .customLong("no-progress"), help: "Hide progress; warnings and errors remain.")
    var hidesProgress = false

    func validate() throws {
        if timeBudget != nil, plan.blocks != nil || plan.quick {
            throw ValidationError("--time-budget decides how many blocks there are: leave --blocks and --quick out.")
        }
        if timeBudget != nil, gate.isForGate {
            throw ValidationError("--for-gate decides how many blocks there are: leave --time-budget out.")
        }
        try gate.check(selection, plan)
    }

    func run() throws {
        let runID = try destination.identifier()
        let (selection, blocks) = try gate.load(selection, plan)
        var options = plan.runOptions(
            for: selection, directory: destination.directory, runID: runID, resume: destination.resume)
        options.take(blocks)
        options.iterationsPerNanosecond = try calibration.flatMap { name in
            let run = try RecordedRun(name, in: destination.directory)
            try run.checkHost(is: .here())
            return run.facts?.iterationsPerNanosecond
        }
        options.budget = timeBudget.map { TimeBudget(seconds: $0.seconds, widths: IntervalWidths.byCell) }
        let execution = try RunExecution(selection: selection, options: options, isSilent: hidesProgress)
        let file = SummaryFile(
            folder: "\(options.directory)/\(runID)", order: SummaryOrder(specs: selection.specs))
        let ended = try execution.run(summary: file)
        let rows = try file.rows(after: ended)
        try StandardOutput.write(
            presentation.text(ofSummary: rows.summary, facts: try RunFacts.read(in: ended.folder)))
        try execution.conclude(ended, samples: rows.samples)
    }
}
