import Foundation
import TestSupport
import Testing

import class OperationEngine.BlockOperation
import class OperationEngine.Operation
import class OperationEngine.OperationQueue

// What a library has with these types in its API. It compiles with scoped imports only: an alias would be internal.

/// A base class that other modules subclass.
open class LibraryOperation: Operation, @unchecked Sendable {
    /// When it was made.
    public let made = Date()
    open override func main() {}
}

/// A queue in which other modules have their operations run.
open class LibraryQueue: OperationQueue, @unchecked Sendable {
    open override class var main: OperationQueue { OperationQueue.main }
    open override func addOperation(_ operation: Operation) { super.addOperation(operation) }

    /// Runs these one after another.
    public func chain(_ operations: [Operation]) -> BlockOperation {
        let last = BlockOperation()
        for (first, second) in zip(operations, operations.dropFirst() + [last]) { second.addDependency(first) }
        addOperations(operations + [last], waitUntilFinished: false)
        return last
    }
}

@Suite("A library's interface", .blocking)
struct LibraryInterfaceTests {
    @Test("its classes and methods with the engine's types are subclassed and called as before")
    func libraryInterface() {
        final class Step: LibraryOperation, @unchecked Sendable {
            let log: Recorder<String>
            init(log: Recorder<String>) { self.log = log }
            override func main() { log.append(name ?? "") }
        }
        let log = Recorder<String>()
        let steps = ["a", "b", "c"].map { name in
            let step = Step(log: log)
            step.name = name
            return step
        }
        LibraryQueue().chain(steps).waitUntilFinished()
        #expect(log.entries == ["a", "b", "c"] && LibraryQueue.main === OperationQueue.main)
    }
}
