/// What a scenario is given: the arguments after its name. It returns if it passed, and calls `expect` or `fail` if not.
typealias Scenario = @Sendable (_ arguments: [String]) -> Void

/// Every scenario by its name, one file each in Scenarios/.
let scenarios: [String: Scenario] = [
    "first-operations": firstOperations,
    "main-queue-many": mainQueueMany,
    "main-queue-graph": mainQueueGraph,
    "main-queue-cancel": mainQueueCancel,
    "main-queue-shares": mainQueueShares,
    "main-queue-completion": mainQueueCompletion,
    "main-queue-waits": mainQueueWaits,
    "current-queue-on-main": currentQueueOnMain,
    "current-queue-elsewhere": currentQueueElsewhere,
    "run-main-serves-dispatch": runMainServesDispatch,
    "run-main-misplaced": runMainMisplaced,
]
