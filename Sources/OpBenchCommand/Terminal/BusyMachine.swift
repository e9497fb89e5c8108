import OpBenchModel

/// Finds out, once, that a run takes longer than its plan thought because something else uses the machine.
///
/// The plan's estimate is of a machine at rest. What is left grows from sample to sample otherwise, and nobody says why.
struct BusyMachine {
    /// What the plan thinks of what is done and of what is left, in seconds.
    private var done = 0.0
    private var left: Double
    private var finished = 0
    private var noisy = 0
    private var isSaid = false

    /// Fewer samples do not tell the pace of a run, nor does less than a tenth of it: they come in random order.
    private static let leastSamples = 8
    private static let leastPart = 0.1
    /// A plan that is a little wrong is not worth a word.
    private static let leastFactor = 1.25

    /// - Parameter estimatedSeconds: how long the plan thinks that all takes; 0 to say nothing.
    init(estimatedSeconds: Double) { left = estimatedSeconds }

    /// The plan has changed: what is left is thought to take so long.
    mutating func replan(estimatedSeconds: Double) { if left > 0 { left = estimatedSeconds } }

    /// A sample is finished.
    ///
    /// - Parameters:
    ///   - estimatedSeconds: how long the plan thought it takes.
    ///   - elapsed: the seconds that all samples so far took.
    /// - Returns: what to say now; nil nearly always.
    mutating func finish(_ rows: [SampleRow], estimatedSeconds: Double, elapsed: Double) -> String? {
        finished += 1
        if rows.contains(where: { $0.flags.contains("noisy") }) { noisy += 1 }
        guard left > 0 else { return nil }
        done += estimatedSeconds
        left = max(0, left - estimatedSeconds)
        guard !isSaid, left > 0, finished >= Self.leastSamples, done >= Self.leastPart * (done + left),
            2 * noisy > finished, elapsed >= Self.leastFactor * done
        else { return nil }
        isSaid = true
        let tenths = (elapsed / done * 10).rounded() / 10
        let wait = Quantities.wait(seconds: (done + left) * elapsed / done)
        return "the machine is busy: this takes about \(tenths)× as long, \(wait) in all"
    }
}
