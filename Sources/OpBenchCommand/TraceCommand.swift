import ArgumentParser
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// `opbench trace FILE`
struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Explain a program's recording: work, span, waits, slowest operations, timeline.",
        discussion: """
            Reads a recording of OperationEngineRecorder, with the part before it in FILE.1, and writes what \
            `opbench profile --kind trace` writes of a cell: work and span, critical path, waits by reason, priority \
            inversions, why the slowest 1 % of each class were slow (tail.json), trace.perfetto-trace for \
            ui.perfetto.dev, trace.json for chrome://tracing. Begins with what the recording lacks: lost events, \
            its end, operations without their submission.

            --from and --to keep the operations that were submitted in that time.

            EXAMPLES
              opbench trace server.oprec
              opbench trace --from 10s --to 10.5s server.oprec
              opbench trace --queue downloads --output downloads server.oprec

            EXIT CODES
              0    explained, whatever the recording lacks
              1    the files cannot be written
              64   bad usage, no recording, a damaged one, or no such queue;
                   nothing was written
            """)

    @Argument(help: ArgumentHelp("A recording.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var window: WindowOptions

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            "The folder for the files, which must be new or empty; by default one in profiles/, named after the time.",
            valueName: "dir"), completion: .directory)
    var directory: String?

    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        if let directory { try FolderArgument.check(directory, option: "--output") }
        try window.check()
    }

    func run() throws {
        // Nothing is written until it is read, so a signal may end the program.
        let profile = try read()
        let directory = directory ?? "profiles/\(RunIdentifier.make())"
        let (result, signal) = try CancellableWork.run {
            await Result.catching { try profile.write(into: directory) }
        }
        if let signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        let (section, folder) = try result.get()
        try StandardOutput.write(ProfileSummary(["\(profile.program), recorded in \(file)"], [section], folder).text)
    }

    private func read() throws(InputError) -> RecordingProfile {
        var display = ProgressDisplay(style: progress.isHidden ? .silent : StandardError.isTerminal ? .bar : .lines)
        defer { display.eraseBar() }
        return try RecordingProfile(reading: file, window.value) { part in
            display.step("reading \(file)", done: Int(part * 100), total: 100, estimatedSeconds: 0)
        }
    }
}

/// `--from`, `--to` and `--queue`: the part of a recording that counts.
struct WindowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only operations submitted at this time after the recording's start or later: 250ms, 10s, 2m.",
            valueName: "time"))
    var from: OffsetArgument?

    @Option(help: ArgumentHelp("Only operations submitted before this time.", valueName: "time"))
    var to: OffsetArgument?

    @Option(help: ArgumentHelp("Only operations of queues with this name.", valueName: "name"))
    var queue: String?

    var value: RecordingWindow {
        RecordingWindow(from: from?.nanoseconds, to: to?.nanoseconds, queue: queue)
    }

    func check() throws {
        guard let from, let to, from.nanoseconds >= to.nanoseconds else { return }
        throw ValidationError("--from is not before --to; swap them.")
    }
}

/// A time since a beginning: `0`, `250ms`, `10s`, `2m`; a number alone is in seconds.
struct OffsetArgument: ExpressibleByArgument {
    let nanoseconds: Int64

    private static let units = ["ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9]
    /// A year; a later time counts as a mistake.
    private static let limit = 31_536_000e9

    init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = argument[number.endIndex...]
        guard let factor = unit.isEmpty ? 1e9 : Self.units[String(unit)], let value = Double(number) else { return nil }
        let nanoseconds = (value * factor).rounded()
        guard (0...Self.limit).contains(nanoseconds) else { return nil }
        self.nanoseconds = Int64(nanoseconds)
    }
}
