import OpBenchBackends
import OpBenchModel
import OperationEngine

/// What the engine alone can do, or does otherwise than Foundation.
enum Library {
    static func setThreadPriority(_ priority: Double, of operation: Operation) { operation.threadPriority = priority }

    static func barriers(_ plan: WorkloadPlan, _ body: OperationBody) -> any Backend { BarrierRound(plan, body) }
}

// What the shared folder's names are here.
typealias BlockOperation = OperationEngine.BlockOperation
typealias Operation = OperationEngine.Operation
typealias OperationQueue = OperationEngine.OperationQueue
