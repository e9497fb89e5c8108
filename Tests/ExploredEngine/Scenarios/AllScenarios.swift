import ExploredFutex
import Interleaving

/// Every scenario of the engine, by the protocol that it belongs to, and those that must fail.
let allScenarios: [Scenario] =
    [
        stateWordScenarios, successorScenarios, filingScenarios, outsideScenarios, leaseScenarios, barrierScenarios,
        closureScenarios, poolScenarios, futexScenarios, brokenScenarios,
    ].flatMap { $0 }.map { scenario in
        scenario.prepared {
            _ = WorkerPool.all
            // Where nobody else can go on, the time does: a wait that looks about itself after a while would hide that its
            // wake-up was lost.
            EndlessWait.patience = .nanoseconds(Int64.max)
        }
    }
