import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// `opbench explain RUN [RUN]`
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain a difference between two builds or backends: which function, allocation, lock or wait grew.",
        discussion: """
            Takes a run of `opbench ab`, or two runs, and the programs that took their samples; with --between, two \
            backends of one run. Reruns the cells that regressed, or may have (with --between, those in which the \
            times differ), on both sides, interleaved, eight times each: unprofiled, and with profiles of CPU time, \
            allocations and waits. Without --filter, reruns the \(ExplainedCells.most) worst. Prints time and CPU time \
            of the run, then the changes per operation, ranked by the part of the difference that they explain. If \
            the slowest 1 % of a class of operations changed, prints by which reason, and the culprit. \
            Reports a change if it is significant after Holm's adjustment for all functions (for all classes of code, \
            for the slowest operations, or for everything else) of the cell, and at least 2 % of the base's CPU time. \
            Reports no function unless the CPU time of these turns changed. A function's figures include the work that \
            the Swift runtime, malloc, the C library and the kernel do for it.

            EXAMPLES
              opbench explain results/two-builds
              opbench explain before after
              opbench explain --filter work_ns=0 --backend engine results/two-builds
              opbench explain --between engine,dispatch --filter work_ns=0 run
              opbench explain --output results/two-builds/explanation results/two-builds

            EXIT CODES
              0    explained, or there is no difference to explain
              3    a sample crashed or timed out
              64   bad usage, a run of one side, a backend without figures in the cell,
                   or a program that is missing or changed
            """)

    @Argument(
        help: ArgumentHelp(
            "A run of `opbench ab`, the run to compare with, or a run for --between.", valueName: "run"),
        completion: .run)
    var base: String

    @Argument(help: ArgumentHelp("The run to compare.", valueName: "run"), completion: .run)
    var head: String?

    @Option(
        help: ArgumentHelp(
            "Explain the difference between two backends of one run, separated by a comma.", valueName: "backends"),
        completion: .backends)
    var between: String?

    @Option(
        help: ArgumentHelp("A policy file (JSON), which defines regressions.", valueName: "file"),
        completion: .json)
    var policy: String?

    @Option(
        help: ArgumentHelp(
            "Explain the cells with names that match, whatever their verdicts; see `opbench help run`.",
            valueName: "regex"))
    var filter: String?

    @Option(
        name: .customLong("backend"),
        help: ArgumentHelp("Only these backends, separated by commas.", valueName: "list"), completion: .backends)
    var backends: String?

    @OptionGroup var results: ResultsOption

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            "Write the explanations, and both sides' stacks, into this new folder.",
            discussion: "The page of `opbench report RUN` shows those in a folder of the run, such as RUN/explanation.",
            valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("Write the explanation to this file, as Markdown.", valueName: "file"))
    var markdown: String?

    @Option(
        help: ArgumentHelp(
            "The number of profiles per side, \(Self.turnsAllowed.lowerBound) to \(Self.turnsAllowed.upperBound).",
            valueName: "n"))
    var turns = 8

    /// Fewer turns cannot distinguish changes from chance.
    private static let turnsAllowed = minimumForInterval...25

    @Option(help: ArgumentHelp("Total duration of a sample's rounds.", valueName: "seconds"))
    var seconds = 0.5

    @Option(help: SampleTime.helpOfTimeout)
    var timeout: Double?

    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        if let directory { try FolderArgument.check(directory, option: "--output") }
        if between != nil { try validateBetween() }
        let (least, most) = (Self.turnsAllowed.lowerBound, Self.turnsAllowed.upperBound)
        try NumberArgument.check(
            turns, option: "--turns", in: Self.turnsAllowed, "is a whole number from \(least) to \(most)")
        try SampleTime.check(seconds: seconds, timeout: timeout)
    }

    private func validateBetween() throws {
        if head != nil { throw ValidationError("--between compares two backends of one run; name one run.") }
        for (option, value) in [("--backend", backends), ("--policy", policy)] where value != nil {
            throw ValidationError("--between and \(option) exclude each other; leave out \(option).")
        }
    }

    func run() throws {
        let file = try markdown.map { (path) throws(InputError) in try ReportFile(path) }
        let filter = try filter.map { (pattern) throws(InputError) in try CellFilter(pattern) }
        let backends = try backends.map { (list) throws(InputError) in try NameList.backends(list) }
        let two = try between.map { (list) throws(InputError) in try NameList.twoBackends(list, option: "--between") }
        let runs = try ([base] + [head].compactMap(\.self)).map { try MeasuredRun($0, in: results.folder) }
        let facts = try runs.map { try $0.described() }
        let rows = try compare(runs, two)
        let cells = try ExplainedCells(rows, of: runs[0], between: two).chosen(filter: filter, backends: backends)
        guard !cells.targets.isEmpty else {
            let finding = two.map { "no time differs beyond chance, \($0.names)" } ?? "nothing regressed"
            StandardError.say("opbench: \(finding); --filter explains other cells")
            return
        }
        if let note = cells.note { StandardError.say("opbench: \(note)") }
        try explain((facts[0], facts[facts.count - 1]), cells.targets, rows, file)
    }

    private func compare(_ runs: [MeasuredRun], _ two: ExplainedBackends?) throws -> [CompareRow] {
        if let two { return try runs[0].rows(comparing: two.base, with: two.head) }
        let compared: ComparedRuns = runs.count == 1 ? .sides(runs[0]) : .runs(runs)
        return try compared.rows(
            by: .forTwoSides(policy, or: compared.standardPolicy, on: runs.backends))
    }

    private func explain(
        _ facts: (base: RunFacts, head: RunFacts), _ targets: [ExplainedTarget], _ rows: [CompareRow],
        _ file: ReportFile?
    ) throws {
        let builds = try CancellableWork.finish { [base, head] in
            try await ExplainedBuilds(base: facts.base, head: facts.head, names: (base, head ?? base))
        }
        let output = try directory.map { try ExplanationFolder($0) }
        let options = ProfileOptions(seconds: seconds, timeoutSeconds: timeout, directory: "")
        let (ended, signal) = try CancellableWork.run { [progress, turns] in
            let monitor = ExplainMonitor(
                options, targets: targets.count, turns: turns, compared: rows, output: output,
                isSilent: progress.isHidden)
            let outcome = await Result.catching {
                try await Explainer(builds, targets, options, turns: turns, by: .ofVerdicts).run(
                    onEvent: monitor.handle)
                return monitor.hasFailures
            }
            monitor.finish()
            return (outcome: outcome, markdown: monitor.markdown)
        }
        // Includes the cells that were explained before an error or a signal.
        if let file, !ended.markdown.isEmpty { try ReportFile.write([(file, ended.markdown)]) }
        if let signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        if try ended.outcome.get() { throw CommandOutcome(status: ExitStatus.badSample) }
    }
}
