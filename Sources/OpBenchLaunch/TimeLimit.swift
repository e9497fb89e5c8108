/// The time limit of a program, divided into parts to wait for. A value without a clock.
///
/// Time in which this process was stopped (Ctrl-Z, SIGSTOP, a frozen container, a sleeping machine) does not count: a
/// part that takes a second or more longer than planned is ignored.
struct TimeLimit {
    private static let stopSeconds = 1.0
    private static let parts = 10.0

    private let part: Double
    private var left: Double

    init(seconds: Double) {
        left = seconds
        part = max(seconds / Self.parts, 0.1)
    }

    /// The next time to wait, in seconds; nil if the time is over.
    var next: Double? { left > 0 ? min(part, left) : nil }

    /// - Parameter elapsed: the time that the wait for `next` took by the clock; less if another event ended it.
    mutating func take(_ elapsed: Double) {
        guard let asked = next, elapsed < asked + Self.stopSeconds else { return }
        left -= min(elapsed, asked)
    }
}
