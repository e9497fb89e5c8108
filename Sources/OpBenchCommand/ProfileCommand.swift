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

/// What a profiler's events set off: progress on standard error, each cell's summary on standard output.
///
/// Not thread-safe; the profiler sends its events one after the other.
final class ProfileMonitor {
    private var display: ProgressDisplay
    private let estimatedSeconds: Double
    /// Whether the user named the kinds: what cannot be done then is a failure.
    private let areKindsAskedFor: Bool
    private(set) var hasFailures = false

    init(_ options: ProfileOptions, targets: Int, isSilent: Bool) {
        display = ProgressDisplay(style: isSilent ? .silent : StandardError.isTerminal ? .bar : .lines)
        areKindsAskedFor = options.kinds != nil
        let kinds = options.kinds?.count ?? ProfileKind.allCases.count
        // A sample, and about as long to make its files.
        estimatedSeconds = Double(targets * (kinds + 1)) * 2 * options.seconds
    }

    func handle(_ event: ProfileEvent) throws {
        switch event {
        case .calibrating: break
        case .sampleStarted(let target, let kind, let index, let total):
            display.step(
                "\(target.backend.rawValue) \(kind?.rawValue ?? "unprofiled"), \(target.cell.id)", done: index,
                total: total, estimatedSeconds: estimatedSeconds)
        case .finished(let profiled):
            display.eraseBar()
            if profiled.sections.contains(where: { $0.hasFailed(isAskedFor: areKindsAskedFor) }) { hasFailures = true }
            try StandardOutput.write(ProfileSummary(profiled).text)
        case .unsupported(let target, let reason):
            warn("unsupported (\(reason)): \(target.backend.rawValue), \(target.cell.id)")
        case .failed(let target, let reason):
            hasFailures = true
            warn("\(reason): \(target.backend.rawValue), \(target.cell.id)")
        }
    }

    func warn(_ text: String) { display.warn(text) }

    /// Ends the display, however the work ended.
    func finish() { display.eraseBar() }
}

extension ProfileSection {
    fileprivate func hasFailed(isAskedFor: Bool) -> Bool {
        switch lack {
        case nil: false
        case .impossible: isAskedFor
        case .failed: true
        }
    }
}

/// What a terminal shows of the profiles of one cell on one backend: figures first, then the files.
struct ProfileSummary {
    private let profiled: ProfiledCell

    init(_ profiled: ProfiledCell) { self.profiled = profiled }

    var text: String {
        let (target, plain) = (profiled.target, profiled.plain)
        var lines = [
            "\(target.cell.id) on \(target.backend.rawValue)",
            "  unprofiled: \(Quantities.duration(nanoseconds: plain.timePerOperation)) an operation, "
                + "\(Quantities.duration(nanoseconds: plain.cpuPerOperation)) of CPU time, "
                + "\(plain.operations) operations in \(plain.rounds) \(plain.rounds == 1 ? "round" : "rounds")",
        ]
        if !plain.note.isEmpty { lines.append("  \(plain.note)") }
        for section in profiled.sections { lines += Self.lines(of: section) }
        if let folder = profiled.folder {
            lines += ["", "files in \(folder):"]
            for section in profiled.sections where !section.files.isEmpty {
                lines.append("  \(section.files.joined(separator: ", "))")
            }
        }
        let escaped = lines.map {
            TerminalText.escaped($0, limit: TerminalText.messageLimit, keepsScopes: true)
        }
        return escaped.joined(separator: "\n") + "\n\n"
    }

    private static func lines(of section: ProfileSection) -> [String] {
        let kind = section.kind.rawValue
        switch section.lack {
        case .impossible(let reason): return ["", "\(kind): not here: \(reason)"]
        case .failed(let reason): return ["", "\(kind): failed: \(reason)"]
        case nil: break
        }
        var title = "\(kind), by \(section.means)"
        if let perturbation = section.perturbation {
            title += ": \(Quantities.ratio(perturbation)) the time without"
            if section.isPerturbed {
                let limit = Quantities.ratio(ProfileSection.mostPerturbation)
                title += ", more than \(limit): its counts hold, its times do not"
            }
        }
        return ["", title] + section.lines.map { "  \($0)" }
    }
}
