/// Says how much longer a run takes: at first as the plan estimated, then more and more as the samples so far took.
///
/// Samples count by what the plan thinks they cost, not by their number: some cells cost a thousand times what others do.
struct TimeLeft {
    /// What the plan thinks of what is done and of what is left, in seconds.
    private var done = 0.0
    private var left: Double
    /// What is done had taken so long, in seconds.
    private var elapsed = 0.0

    /// - Parameter estimatedSeconds: how long the plan thinks that all that is left takes.
    init(estimatedSeconds: Double) { left = estimatedSeconds }

    /// More of the work is done.
    ///
    /// - Parameters:
    ///   - estimatedSeconds: how long the plan thought it takes.
    ///   - elapsed: the seconds from the beginning until now.
    mutating func finish(estimatedSeconds: Double, elapsed: Double) {
        done += estimatedSeconds
        left = max(0, left - estimatedSeconds)
        self.elapsed = elapsed
    }

    /// Part of the work is not done at all, and tells nothing of the rest.
    mutating func drop(estimatedSeconds: Double) { left = max(0, left - estimatedSeconds) }

    /// The plan has changed: what is left is thought to take so long.
    mutating func replan(estimatedSeconds: Double) { left = estimatedSeconds }

    /// In seconds; never below 0.
    var seconds: Double {
        guard done > 0, left > 0 else { return left }
        // The samples of a run come in random order within blocks, so that a tenth of them represents the rest.
        let trust = min(1, 10 * done / (done + left))
        return left * (1 - trust + trust * elapsed / done)
    }
}
