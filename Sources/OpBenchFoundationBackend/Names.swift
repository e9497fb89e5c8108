import Foundation

// What the shared folder's names are here.
typealias BlockOperation = Foundation.BlockOperation
typealias Operation = Foundation.Operation
typealias OperationQueue = Foundation.OperationQueue
