// The one file by which a module moves whose other files stay as they are: its own names win over imported ones.

import OperationEngine
import OperationEngineFoundation
import OperationEngineProgress

typealias BlockOperation = OperationEngine.BlockOperation
typealias Operation = OperationEngine.Operation
typealias OperationQueue = OperationEngine.OperationQueue
typealias QualityOfService = OperationEngine.QualityOfService
