import ArgumentParser
import OpBenchProfile

/// `--from` and `--to`: the part of a recording that counts.
struct WindowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only operations submitted at this time after the recording's start or later: 250ms, 10s, 2m.",
            valueName: "time"), transform: FormedArgument.offset)
    var from: Int64?

    @Option(
        help: ArgumentHelp("Only operations submitted before this time.", valueName: "time"),
        transform: FormedArgument.offset)
    var to: Int64?

    var value: RecordingWindow { RecordingWindow(from: from, to: to) }

    func validate() throws {
        guard let from, let to, from >= to else { return }
        throw ValidationError("--from is not before --to; swap them.")
    }
}
