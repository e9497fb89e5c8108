import OpBenchModel

/// Guesses of the time that a sample takes.
enum SampleEstimate {
    /// Starting the process and warming up.
    private static let start = 0.04

    static func seconds(of sample: PlannedSample, _ options: RunOptions) -> Double {
        let round = sample.cell.roundSeconds(on: sample.backend)
        switch sample.flavour {
        case .throughput, .latency:
            if sample.flavour == .latency, let rounds = sample.cell.latencyRounds { return start + rounds * round }
            return start + max(1.3 * Double(options.targetNanoseconds) / 1e9, round)
        case .allocations: return start + (round < 1 ? 4.2 : 2.2) * round
        case .heap, .calls, .check: return start + 1.2 * round
        }
    }
}
