import OpBenchBackends
import OpBenchModel

/// Guesses of the time that a sample takes.
enum SampleEstimate {
    /// Starting the process and warming up.
    private static let start = 0.04
    /// Rounds until a searched rate is found.
    private static let searchTries = 20.0
    /// Threads that a pool has for blocked operations, about: Dispatch's most.
    private static let poolThreads = 64

    static func seconds(of sample: PlannedSample, _ options: RunOptions) -> Double {
        let round = roundSeconds(of: sample.cell, on: sample.backend)
        switch sample.flavour {
        case .latency where sample.cell.shape == .openLoop && sample.cell.arrivalRate == nil:
            return start + searchTries * round
        case .throughput, .latency: return start + max(1.3 * Double(options.targetNanoseconds) / 1e9, round)
        case .allocations, .heap, .calls, .check: return start + 1.2 * round
        }
    }

    private static func roundSeconds(of cell: Cell, on backend: BackendID) -> Double {
        if !cell.phases.isEmpty { return cell.phases.reduce(0) { $0 + roundSeconds(of: $1.cell, on: backend) } }
        if cell.shape == .blocking { return blockedSeconds(cell, on: backend) }
        let operations = Double(cell.operationCount)
        let threads = backend == .serial || cell.maxConcurrent == 1 ? 1.0 : 2
        let work = Double(cell.itemCount) * Double(cell.integer("work_ns")) / threads
        return (operations * nanosecondsPerOperation(of: cell, on: backend) + work) / 1e9 + pauseSeconds(cell)
    }

    private static func nanosecondsPerOperation(of cell: Cell, on backend: BackendID) -> Double {
        switch backend {
        case .serial: 2
        case _ where cell.shape == .wakeup: 30_000
        case .engine: 300
        // Foundation looks through all waiting operations whenever one ends.
        case .foundation where [.chain, .graph].contains(cell.shape):
            3000 + 80 * Double(cell.operationCount)
        case .foundation: 4000
        default: 600
        }
    }

    /// Operations that sleep take the processor's time from nobody, and each a thread: as many as the limit lets begin, or
    /// as many as pools have.
    private static func blockedSeconds(_ cell: Cell, on backend: BackendID) -> Double {
        let plan = WorkloadPlan(cell)
        let limit = backend == .serial ? 1 : min(plan.limit ?? poolThreads, poolThreads)
        let nanoseconds = plan.idealBlockedMakespan(processors: 1, limit: limit) ?? 0
        return Double(nanoseconds) / 1e9
    }

    /// What the parameters alone make a round wait.
    private static func pauseSeconds(_ cell: Cell) -> Double {
        switch cell.shape {
        case .suspendResume: Double(cell.integer("toggles")) * Double(cell.integer("hold_ns")) / 1e9
        case .wakeup:
            Double(cell.integer("operations") / cell.integer("burst")) * Double(cell.integer("pause_ns")) / 1e9
        case .openLoop: Double(cell.integer("duration_ns")) / 1e9
        default: 0
        }
    }
}
