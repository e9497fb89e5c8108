import ArgumentParser

/// A time on the command line: `90s`, `10m`, `2h`; a number alone is in seconds.
struct TimeArgument: ExpressibleByArgument {
    let seconds: Double

    /// A year: more is taken for a slip.
    private static let limit = 31_536_000.0

    init?(argument: String) {
        let factors: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
        let factor = argument.last.flatMap { factors[$0] }
        guard let number = Double(factor == nil ? argument : String(argument.dropLast())) else { return nil }
        seconds = number * (factor ?? 1)
        guard seconds > 0, seconds <= Self.limit else { return nil }
    }
}
