import OpBenchModel

/// Rough estimates of the time that a sample takes.
enum SampleEstimate {
    /// Starting the process and warming up.
    private static let start = 0.04
    /// The start of a sample under callgrind, and what callgrind multiplies.
    private static let (callgrind, callgrindFactor) = (5.0, 50.0)

    static func seconds(
        of cell: Cell, on backend: BackendID, _ flavour: SampleFlavour, targetNanoseconds: Int64
    ) -> Double {
        let round = cell.roundSeconds(on: backend)
        switch flavour {
        case .instructions:
            let operation = round / Double(max(1, cell.operationCount))
            let operations = InstructionTrial.operations(cpuNanosecondsEach: operation * 1e9)
            let rounds = InstructionTrial.rounds + InstructionTrial.uncountedRounds
            return callgrind + callgrindFactor * Double(operations * rounds) * operation
        case .throughput, .latency, .counters:
            if flavour == .latency, let rounds = cell.latencyRounds { return start + rounds * round }
            return start + max(1.3 * Double(targetNanoseconds) / 1e9, round)
        case .allocations: return start + (round < 1 ? 4.2 : 2.2) * round
        case .heap, .calls, .check: return start + 1.2 * round
        }
    }

    /// A profiled sample, which runs rounds in pairs, for three times its target at most.
    static func seconds(ofProfile cell: Cell, on backend: BackendID, targetSeconds: Double) -> Double {
        start + 3 * targetSeconds + 2 * cell.roundSeconds(on: backend)
    }
}

/// The time limit of a sample that the user gives none: a multiple of the time that it is planned to take, so that a
/// busy machine or a slow build ends no sample.
public enum TimeLimitOfSample {
    public static let multiple = 5.0
    /// The least limits of samples of a run, and of profiled ones, in seconds.
    public static let (least, leastOfProfile) = (30.0, 60.0)
    public static let most = 86_400.0

    static func seconds(planned: Double, least: Double = least) -> Double {
        min(most, max(least, (multiple * planned).rounded(.up)))
    }
}
