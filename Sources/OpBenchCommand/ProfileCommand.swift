import ArgumentParser
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// `opbench profile FILE…`
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Show where the time of a workload goes: a trace, CPU time, waits, allocations.",
        usage: "opbench profile <file> ... [<options>]",
        discussion: """
            Takes a marked sample for each kind of profile, on each backend of each cell: the plan, warm-up and outcome \
            check of a throughput sample, in a process of its own. Warm-up, start and teardown are not in the profile. \
            Writes no rows: a profiled program is slower, and each summary says by how much.

            THE KINDS
              trace    submission, start and end of each operation on its thread;
                       work and span, critical path, waits by reason, inversions;
                       trace.perfetto-trace for ui.perfetto.dev, trace.json for
                       chrome://tracing
              cpu      functions by CPU time: flame graph, folded stacks, speedscope
              offcpu   where threads wait, for how long, and who wakes them
              heap     what is allocated where, by bytes and by count

            Without --kind: all that this machine can do.

            EXAMPLES
              opbench profile workloads/dependency-chains.json
              opbench profile --kind trace --backend engine workloads/priority-mix.json
              opbench profile --set items=1000 --output tiny workloads/tiny-vs-batched.json
            """)

    @OptionGroup var cells: CellOptions

    @Option(
        name: .customLong("kind"),
        help: ArgumentHelp(
            "Kinds of profile, separated by commas, in place of all that this machine can do.",
            discussion: "Known: \(ProfileKind.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "list"))
    var kinds: String?

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            "The folder for the files; it must be new or empty. Without it: one in profiles/, named by the time.",
            valueName: "dir"))
    var directory: String?

    @Option(help: ArgumentHelp("How long the rounds of a sample last together.", valueName: "seconds"))
    var seconds = 1.0

    @Option(help: ArgumentHelp("End a sample that takes longer.", valueName: "seconds"))
    var timeout = 60.0

    @Flag(name: .customLong("no-progress"), help: "Hide progress; warnings and errors remain.")
    var hidesProgress = false

    func validate() throws {
        try cells.requireFiles()
        if let directory { try FolderArgument.check(directory, option: "--output") }
        try SampleTime.check(seconds: seconds, timeout: timeout)
    }

    func run() throws {
        let kinds = try kinds.map { (list) throws(InputError) in try NameList.profileKinds(list) }
        let selection = try cells.load()
        let targets = selection.specs.flatMap { spec in
            spec.cells.flatMap { cell in
                spec.backends.map { ProfileTarget(cell: cell, backend: $0) }
            }
        }
        let options = ProfileOptions(
            kinds: kinds, seconds: seconds, timeoutSeconds: timeout,
            directory: directory ?? "profiles/\(RunIdentifier.make())")
        let (result, signal) = try CancellableWork.run { [hidesProgress] in
            let monitor = ProfileMonitor(options, targets: targets.count, isSilent: hidesProgress)
            for warning in selection.warnings { monitor.warn(warning) }
            let outcome = await Result.catching {
                try await Profiler(targets, options).run(onEvent: monitor.handle)
                return monitor.hasFailures
            }
            monitor.finish()
            return outcome
        }
        if let signal {
            StandardError.say("opbench: interrupted; finished profiles are in \(options.directory)")
            throw CommandOutcome(status: ExitStatus.interrupted(by: signal))
        }
        if try result.get() { throw CommandOutcome(status: ExitStatus.badSample) }
    }
}
