/// The time that a program may take, divided into parts to wait for. A value without a clock of its own.
///
/// Time in which this process was stopped (Ctrl-Z, SIGSTOP, a frozen container, a machine that sleeps) does not count
/// as the program's: a part that takes a second or more longer than it should does not count.
struct TimeLimit {
    private static let stopSeconds = 1.0
    private static let parts = 10.0

    private let part: Double
    private var left: Double

    init(seconds: Double) {
        left = seconds
        part = max(seconds / Self.parts, 0.1)
    }

    /// How long to wait now, in seconds; nil if the time is over.
    var next: Double? { left > 0 ? min(part, left) : nil }

    /// - Parameter elapsed: how long waiting for `next` took by the clock. Less than that, if something else came.
    mutating func take(_ elapsed: Double) {
        guard let asked = next, elapsed < asked + Self.stopSeconds else { return }
        left -= min(elapsed, asked)
    }
}
