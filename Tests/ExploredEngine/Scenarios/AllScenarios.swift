import ExploredFutex
import Interleaving

/// Every scenario of the engine, by the protocol that it belongs to, and those that must fail.
let allScenarios: [Scenario] =
    [
        stateWordScenarios, successorScenarios, filingScenarios, leaseScenarios, barrierScenarios, closureScenarios,
        poolScenarios, futexScenarios, brokenScenarios,
    ].flatMap { $0 }.map { $0.prepared { _ = WorkerPool.all } }
