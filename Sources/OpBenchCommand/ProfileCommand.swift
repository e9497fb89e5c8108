import ArgumentParser
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// `opbench profile FILE…` and `opbench profile -- PROGRAM`
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Show where time goes: trace, CPU, waits, allocations.",
        usage: """
            opbench profile <file> ... [<options>]
            opbench profile [<options>] -- <program> [<argument> ...]
            """,
        discussion: """
            Takes a marked sample for each kind of profile, on each backend of each cell: the plan, warm-up and \
            outcome check of a throughput sample, in a separate process. Profiles exclude warm-up, start and \
            teardown. Writes no rows: a profiled program is slower; each summary reports by how much.

            After --, runs any program once, and records all kinds at the same time, from its start to its end. The \
            program has opbench's standard streams and gets its signals, Ctrl-C included; the summary goes to \
            standard error. The exit status is the program's.

            THE KINDS
              trace    submission, start and end of each operation on its thread;
                       work and span, critical path, waits by reason,
                       why the slowest 1 % of each class were slow (tail.json);
                       trace.json for ui.perfetto.dev
              cpu      functions by CPU time, and folded stacks for speedscope.app
              offcpu   where threads wait, how long, and who wakes them
              heap     where memory is allocated, by bytes and by count

            Without --kind, takes all kinds that work here; of a program, only those that leave it as it is: for \
            heap, jemalloc takes the place of its malloc, and it must end by exit(3).

            EXAMPLES
              opbench profile workloads/dependency-chains.json
              opbench profile --kind trace --backend engine workloads/priority-mix.json
              opbench profile --filter depth=1000 workloads/dependency-chains.json
              opbench profile --kind cpu,heap --seconds 3 workloads/*.json
              opbench profile --set items=1000 --output tiny workloads/tiny-vs-batched.json
              opbench profile --seconds 10 -- ./server --port 8080
              opbench profile --kind heap -- gzip -k big.txt
            """)

    /// The words after `--`, see `OpBench.command(of:)`.
    @Option(name: .customLong(Self.programOption), parsing: .remaining, help: .hidden)
    var program: [String] = []

    static let programOption = "program-and-arguments"

    @OptionGroup(title: OptionTitle.workloads) var cells: CellOptions

    @Option(
        name: .customLong("kind"),
        help: ArgumentHelp(
            "Kinds of profile, separated by commas, instead of all that work here.",
            discussion: "Known: \(ProfileKind.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "list"),
        completion: .profileKinds)
    var kinds: String?

    @OptionGroup var output: ProfileFolderOption

    @Option(
        help: ArgumentHelp(
            "Total duration of a sample's rounds, by default 1; of a program, the time after which it gets SIGINT, "
                + "5 s later SIGTERM, and 5 s later SIGKILL.", valueName: "seconds"))
    var seconds: Double?

    @Option(help: SampleTime.helpOfTimeout)
    var timeout: Double?

    @OptionGroup var progress: ProgressOptions

    private var sampleSeconds: Double { seconds ?? 1 }

    func validate() throws {
        if program.isEmpty {
            try cells.requireFiles()
            try SampleTime.check(seconds: sampleSeconds, timeout: timeout)
        } else {
            if let other = cells.firstGiven ?? timeout.map({ _ in "--timeout" }) {
                throw ValidationError("\(other) and a program after -- exclude each other; leave out one.")
            }
            if let seconds { try SampleTime.check(seconds: seconds) }
        }
    }

    func run() throws {
        let kinds = try kinds.map { (list) throws(InputError) in try NameList.profileKinds(list) }
        let directory = output.folder()
        if program.isEmpty {
            try profileCells(kinds, directory)
        } else {
            try profileProgram(kinds, directory)
        }
    }

    /// Profiles a program, and ends with its exit status.
    private func profileProgram(_ kinds: [ProfileKind]?, _ directory: String) throws {
        let profiler = try ProgramProfiler(
            ProgramToProfile(program), kinds: kinds, seconds: seconds, directory: directory)
        let record = try profiler.record {
            if !progress.isHidden { StandardError.say("opbench: the recorders are ready, \(program[0]) starts") }
        }
        let (result, signal) = try CancellableWork.run { [record] in
            await Result.catching { try await record.profile() }
        }
        if let signal {
            StandardError.say("opbench: interrupted; the program had ended, its profile is dropped")
            throw CommandOutcome(status: ExitStatus.interrupted(by: signal))
        }
        let profiled = try result.get()
        StandardError.write("\n" + ProfileSummary(profiled).text)
        let hasFailed = profiled.sections.contains { $0.hasFailed(isAskedFor: kinds != nil) }
        let status = profiled.status != 0 || !hasFailed ? profiled.status : ExitStatus.badSample
        if status != ExitStatus.success { throw CommandOutcome(status: status) }
    }

    private func profileCells(_ kinds: [ProfileKind]?, _ directory: String) throws {
        let selection = try cells.load()
        let targets = selection.specs.flatMap { spec in
            spec.cells.flatMap { cell in
                spec.backends.map { ProfileTarget(cell: cell, backend: $0) }
            }
        }
        let options = ProfileOptions(
            kinds: kinds, seconds: sampleSeconds, timeoutSeconds: timeout, directory: directory)
        let (result, signal) = try CancellableWork.run { [progress] in
            let monitor = ProfileMonitor(options, targets: targets.count, isSilent: progress.isHidden)
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

/// Handles a profiler's events: progress on standard error, each cell's summary on standard output.
///
/// Not thread-safe; the profiler sends one event at a time.
final class ProfileMonitor {
    private var display: ProgressDisplay
    private let estimatedSeconds: Double
    /// Whether the user named the kinds; then a kind that is not possible is a failure.
    private let areKindsAskedFor: Bool
    private(set) var hasFailures = false

    init(_ options: ProfileOptions, targets: Int, isSilent: Bool) {
        display = ProgressDisplay(style: isSilent ? .silent : StandardError.isTerminal ? .bar : .lines)
        areKindsAskedFor = options.kinds != nil
        let kinds = options.kinds?.count ?? ProfileKind.allCases.count
        // The time for a sample, and about as much for its files.
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

    /// Ends the display, whether the work succeeded or failed.
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

/// The text for a terminal about profiles: first figures, then files.
struct ProfileSummary {
    private let heading: [String]
    private let sections: [ProfileSection]
    private let folder: String?

    init(_ heading: [String], _ sections: [ProfileSection], _ folder: String?) {
        (self.heading, self.sections, self.folder) = (heading, sections, folder)
    }

    init(_ profiled: ProfiledCell) {
        let (target, plain) = (profiled.target, profiled.plain)
        heading =
            [
                "\(target.cell.id) on \(target.backend.rawValue)",
                "  unprofiled: \(Quantities.time(plain.timePerOperation)) per operation, "
                    + "\(Quantities.time(plain.cpuPerOperation)) of CPU time, "
                    + "\(counted(plain.operations, "operation")) in \(counted(plain.rounds, "round"))",
            ] + (plain.note.isEmpty ? [] : ["  \(plain.note)"])
        (sections, folder) = (profiled.sections, profiled.folder)
    }

    init(_ profiled: ProfiledProgram) {
        heading =
            [
                ShellWords.joined(profiled.words),
                "  \(Quantities.time(Double(profiled.duration))), \(profiled.endingWords)",
            ] + [profiled.costWords.map { "  \($0)" }].compactMap(\.self)
        (sections, folder) = (profiled.sections, profiled.folder)
    }

    var text: String {
        var lines = heading
        for section in sections { lines += Self.lines(of: section) }
        if let folder {
            lines += ["", "files in \(folder):"]
            for section in sections where !section.files.isEmpty {
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
        case .impossible(let reason): return ["", "\(kind): not possible here: \(reason)"]
        case .failed(let reason): return ["", "\(kind): failed: \(reason)"]
        case nil: break
        }
        var title = "\(kind), by \(section.means)"
        if let perturbation = section.perturbation {
            title += ": \(Quantities.ratio(perturbation)) the unprofiled time"
            if section.isPerturbed {
                let limit = Quantities.ratio(ProfileSection.mostPerturbation)
                title += ", more than \(limit): trust its counts, not its times"
            }
        }
        return ["", title] + section.lines.map { "  \($0)" }
    }
}
