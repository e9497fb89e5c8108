import ArgumentParser
import OpBenchProfile

/// `--from`, `--to` and `--queue`: the part of a recording that counts.
struct WindowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only operations submitted at this time after the recording's start or later: 250ms, 10s, 2m.",
            valueName: "time"), transform: OffsetArgument.parse)
    var from: OffsetArgument?

    @Option(
        help: ArgumentHelp("Only operations submitted before this time.", valueName: "time"),
        transform: OffsetArgument.parse)
    var to: OffsetArgument?

    @Option(help: ArgumentHelp("Only operations of queues with this name.", valueName: "name"))
    var queue: String?

    var value: RecordingWindow {
        RecordingWindow(from: from?.nanoseconds, to: to?.nanoseconds, queue: queue)
    }

    var isEmpty: Bool { from == nil && to == nil && queue == nil }

    func validate() throws {
        guard let from, let to, from.nanoseconds >= to.nanoseconds else { return }
        throw ValidationError("--from is not before --to; swap them.")
    }
}

/// A time since a beginning: `0`, `250ms`, `10s`, `2m`; a number alone is in seconds.
struct OffsetArgument: FormedArgument {
    static let form = "a time from 0, such as 250ms, 10s or 2m"

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
