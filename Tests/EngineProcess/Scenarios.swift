/// What a scenario is given: the arguments after its name. It returns if it passed, and calls `expect` or `fail` if not.
typealias Scenario = @Sendable (_ arguments: [String]) -> Void

/// Every scenario by its name, one file each in Scenarios/.
let scenarios: [String: Scenario] = [
    "at-exit": atExit,
    "current-queue-elsewhere": currentQueueElsewhere,
    "current-queue-on-main": currentQueueOnMain,
    "dispatch-signal-source": dispatchSignalSource,
    "exit-in-flight": exitInFlight,
    "exit-in-operation": exitInOperation,
    "exit-while-busy": exitWhileBusy,
    "first-operations": firstOperations,
    "fork-after-use": forkAfterUse,
    "fork-after-use-traps": forkAfterUseTraps,
    "fork-and-exec": forkAndExec,
    "fork-and-read": forkAndRead,
    "fork-before-use": forkBeforeUse,
    "fork-in-operation": forkInOperation,
    "fork-under-load": forkUnderLoad,
    "inherited-processors": inheritedProcessors,
    "main-queue-barrier": mainQueueBarrier,
    "main-queue-cancel": mainQueueCancel,
    "main-queue-completion": mainQueueCompletion,
    "main-queue-graph": mainQueueGraph,
    "main-queue-many": mainQueueMany,
    "main-queue-shares": mainQueueShares,
    "main-queue-waits": mainQueueWaits,
    "run-main-misplaced": runMainMisplaced,
    "run-main-serves-dispatch": runMainServesDispatch,
    "signal-mask": signalMask,
    "signalfd": signalDescriptor,
]
