import ArgumentParser
import OpBenchModel
import OpBenchProfile
import OpBenchRunner

/// `opbench trace FILE`
struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Explain a program's recording: where its slowest 1 % come from, and who did it.",
        discussion: """
            Reads a recording of OperationEngineRecorder, with the part before it in FILE.1, and prints what delayed \
            the slowest 1 % of each class in a queue, added up over all incidents; then the latencies of each class, \
            and the use of workers, processors and limits. Of a graph that was submitted at once, also work, span and \
            critical path. Writes tail.json, and trace.json for ui.perfetto.dev. Begins with what the recording \
            lacks: lost events, its end, operations without their submission.

            --from and --to keep the operations that were submitted in that time.

            EXAMPLES
              opbench trace server.oprec
              opbench trace --from 10s --to 10.5s --output peak server.oprec

            EXIT CODES
              0    explained, whatever the recording lacks
              1    the files cannot be written
              64   bad usage, no recording, one with a damaged beginning, or no
                   operation in that time; nothing was written
            """)

    @Argument(help: ArgumentHelp("A recording.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var window: WindowOptions

    @OptionGroup var output: ProfileFolderOption

    @OptionGroup var progress: ProgressOptions

    func run() throws {
        var display = ProgressDisplay(style: progress.isHidden ? .silent : StandardError.isTerminal ? .bar : .lines)
        defer { display.eraseBar() }
        // Nothing is written until it is read, so a signal may end the program.
        var shown = -1
        var seconds = 0.0
        let profile = try RecordingProfile(reading: file, window.value) { done, size in
            let percent = Self.readingPercent * done / max(1, size)
            guard percent > shown else { return }
            (shown, seconds) = (percent, Double(size) / Self.bytesPerSecond)
            display.step("reading \(file)", done: percent, total: 100, estimatedSeconds: seconds)
        }
        display.step(
            "explaining \(file)", done: Self.readingPercent, total: 100, estimatedSeconds: seconds,
            isLong: seconds > Self.longSeconds)
        let directory = output.folder()
        let (result, signal) = try CancellableWork.run {
            await Result.catching { try profile.write(into: directory) }
        }
        if let signal { throw CommandOutcome(status: ExitStatus.interrupted(by: signal)) }
        let (section, tails, folder) = try result.get()
        display.eraseBar()
        try StandardOutput.write(ProfileSummary(["\(profile.program), recorded in \(file)"], [section], folder).text)
        if tails.shown.contains(where: { $0.word == .limit }) { sayHowToTryLimits() }
    }

    private func sayHowToTryLimits() {
        let part = [("--from", window.from), ("--to", window.to)].flatMap { name, time in
            time.map { [name, "\($0)ns"] } ?? []
        }
        let (workload, setting) = ("replay.json", ["--set", "limit=recorded,4"])
        let words = ["init", "--from-recording", file] + part + ["--names", "-o", workload]
        StandardError.say("opbench: to try other limits, replay the recording, for example with the limit 4:")
        StandardError.say("opbench:   \(ShellWords.ofThisProgram(words))")
        StandardError.say("opbench:   \(ShellWords.ofThisProgram(["run"] + setting + [workload]))")
    }

    // Measured with ten million operations, on a processor of 2.5 GHz.
    private static let readingPercent = 20
    private static let bytesPerSecond = 15e6
    private static let longSeconds = 10.0
}
