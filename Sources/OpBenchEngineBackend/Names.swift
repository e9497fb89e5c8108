import OperationEngine

// What the shared folder's names are here.
typealias BlockOperation = OperationEngine.BlockOperation
typealias Operation = OperationEngine.Operation
typealias OperationQueue = OperationEngine.OperationQueue
