import ArgumentParser
import OpBenchModel
import OpBenchRunner

/// How often and in which order: what `run` and `list` have in common beside the selection.
struct PlanOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Samples of every kind per cell and backend, 1 to 1000.",
            discussion: """
                Without it: throughput 7, latency 3, memory 2, check 1; 7 of latency where a workload has no throughput, \
                and up to 7 of memory where counts do not agree. Seven screen; for a gate to find a regression it takes 15 on each side.
                """,
            valueName: "n"))
    var blocks: Int?

    @Flag(help: "Fewer blocks and smaller rounds: shows that a workload works, proves nothing.")
    var quick = false

    @Option(
        help: ArgumentHelp(
            "Orders the blocks.", discussion: "The workload's own parameter `seed` shapes what it does.",
            valueName: "n"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Kill a sample that takes longer; it counts as `timeout`.", valueName: "seconds"))
    var timeout: Double = 30

    func validate() throws {
        if let blocks, !(1...1000).contains(blocks) {
            throw ValidationError("--blocks is \(blocks); allowed is a whole number from 1 to 1000.")
        }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout is \(timeout); allowed are more than 0 and at most 86400 seconds.")
        }
    }
}

extension PlanOptions {
    /// The runner's options.
    func runOptions(in directory: String = "", runID: String = "", resume: Bool = false) -> RunOptions {
        RunOptions(
            blocks: blocks, isQuick: quick, seed: seed, timeoutSeconds: timeout, directory: directory, runID: runID,
            resume: resume, arguments: OwnProgram.arguments)
    }
}

/// Where the rows of a run go.
struct DestinationOptions: ParsableArguments {
    @Option(name: .customLong("output"), help: ArgumentHelp("The folder of runs.", valueName: "dir"))
    var directory = "results"

    @Option(
        name: .customLong("run-id"),
        help: ArgumentHelp(
            "The run's name, and its folder's.", discussion: "Without it: the time in UTC and four random digits.",
            valueName: "id"))
    var runID: String?

    @Flag(help: "Continue the run of that --run-id: keep its rows, measure what is missing.")
    var resume = false

    func validate() throws {
        try FolderArgument.check(directory, option: "--output")
        if resume && runID == nil {
            throw ValidationError(
                "--resume needs the --run-id of the run to continue. With --shard leave it out: an interrupted part is "
                    + "continued.")
        }
    }

    /// The run's name, checked or made.
    func identifier() throws(InputError) -> String {
        guard let runID else { return RunIdentifier.make() }
        try RunIdentifier.check(runID: runID)
        return runID
    }
}
