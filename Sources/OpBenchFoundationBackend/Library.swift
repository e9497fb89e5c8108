import Foundation
import OpBenchBackends
import OpBenchModel

/// What Foundation on Linux does otherwise than the engine.
enum Library {
    /// Never called: the shape that asks for it is not supported.
    static func setThreadPriority(_ priority: Double, of operation: Operation) {
        preconditionFailure("Foundation on Linux has no threadPriority")
    }

    static func barriers(_ plan: WorkloadPlan, _ body: OperationBody) -> any Backend {
        AwaitedBarrierRound(plan, body)
    }
}

// What the shared folder's names are here.
typealias BlockOperation = Foundation.BlockOperation
typealias Operation = Foundation.Operation
typealias OperationQueue = Foundation.OperationQueue
