/// Says how much longer a run takes: at first as the plan estimated, then more and more as the samples so far took.
struct TimeLeft {
    private let total: Int
    private let estimatedSeconds: Double

    /// - Parameters:
    ///   - total: the number of samples of the whole run.
    ///   - estimatedSeconds: how long the plan thinks they take together.
    init(total: Int, estimatedSeconds: Double) {
        self.total = total
        self.estimatedSeconds = estimatedSeconds
    }

    /// - Parameters:
    ///   - done: the samples that are finished.
    ///   - elapsed: the seconds that these took.
    func seconds(done: Int, elapsed: Double) -> Double {
        guard done < total else { return 0 }
        let share = Double(done) / Double(total)
        let planned = estimatedSeconds * (1 - share)
        guard done > 0 else { return planned }
        let projected = elapsed / share * (1 - share)
        // The samples of a run come in random order within blocks, so that a tenth of them represents the rest.
        let trust = min(1, share * 10)
        return planned * (1 - trust) + projected * trust
    }
}
