import OperationEngine

let queue = OperationQueue()
let first = BlockOperation { print("first") }
let second = BlockOperation { print("second") }
second.addDependency(first)
queue.addOperations([second, first], waitUntilFinished: true)
