import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// The number and order of samples: the options that `run` and `list` share besides the selection.
struct PlanOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Samples of every kind per cell and backend, 1 to 1000.",
            discussion: """
                By default: throughput 7, latency 3 (7 without throughput), memory 2 (up to 7 if counts do not agree), \
                counters 3, instructions as memory, check 1. A gate needs 15 on each side to report a regression.
                """,
            valueName: "n"))
    var blocks: Int?

    @Flag(help: "Fewer and shorter samples: check that a workload works, prove nothing.")
    var quick = false

    @Option(
        help: ArgumentHelp(
            "Seed for the order of blocks.",
            discussion: "The workload's own parameter `seed` determines its operations.",
            valueName: "n"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "Kill a sample that takes longer; it counts as `timeout`.",
            discussion: """
                By default, \(Int(TimeLimitOfSample.multiple)) times as long as the sample is planned to take, and at \
                least \(Int(TimeLimitOfSample.least)) s; `opbench list` prints it.
                """,
            valueName: "seconds"))
    var timeout: Double?

    func validate() throws {
        try NumberArgument.check(blocks, option: "--blocks", in: 1...1000, "is a whole number from 1 to 1000")
        try SampleTime.check(timeout: timeout)
    }
}

extension PlanOptions {
    /// The runner's options, for a plan alone.
    func runOptions() -> RunOptions {
        var options = RunOptions.standard
        (options.blocks, options.isQuick, options.seed) = (blocks, quick, seed)
        (options.timeoutSeconds, options.arguments) = (timeout, OwnProgram.arguments)
        return options
    }

    /// The runner's options.
    func runOptions(
        of selection: Selection, in destination: DestinationOptions, as runID: String, _ limits: LimitOptions
    ) throws(InputError) -> RunOptions {
        var options = runOptions()
        (options.directory, options.runID, options.resume) = (destination.directory, runID, destination.resume)
        (options.optionOfKinds, options.settings) = (selection.optionOfKinds, selection.settings)
        options.limits = try limits.checked()
        return options
    }
}

/// The titles of groups of options, in the help of several commands.
enum OptionTitle {
    static let workloads = "Workloads"
    static let samples = "Samples"
    static let comparison = "Comparison"
    static let results = "Results"
    static let limits = "Limits"
    static let machines = "Several machines"
}

/// The display of progress.
struct ProgressOptions: ParsableArguments {
    @Flag(name: .customLong("no-progress"), help: "Hide progress; warnings and errors remain.")
    var isHidden = false
}

/// The destination of a run's rows.
struct DestinationOptions: ParsableArguments {
    @Option(
        name: .customLong("run-id"),
        help: ArgumentHelp(
            "The name of the run and its folder.", discussion: "By default, the time in UTC and four random digits.",
            valueName: "id"),
        completion: .run)
    var runID: String?

    @Flag(
        help: ArgumentHelp(
            "Continue the run with that --run-id: keep its rows, measure what is missing.",
            discussion: "Refused with another program, host, kernel, library or variable than run.json records."))
    var resume = false

    @Option(
        name: .customLong("output"), help: ArgumentHelp("The folder of runs.", valueName: "dir"), completion: .directory
    )
    var directory = "results"

    func validate() throws {
        try FolderArgument.check(directory, option: "--output")
        if resume && runID == nil {
            throw ValidationError("--resume needs the --run-id of the run to continue; with --shard, leave it out.")
        }
    }

    /// The run's name, checked or generated.
    func identifier() throws(InputError) -> String {
        guard let runID else { return RunIdentifier.make() }
        try RunIdentifier.check(runID: runID)
        return runID
    }
}
