import OperationEngine
import TestSupport
import Testing

/// Which closure is which form of `addOperation`: shown by the operation that it becomes.
@Suite("X1: which closures are async", .blocking)
struct OverloadTests {
    @discardableResult
    private static func number() -> Int { 1 }
    private static func asyncNumber() async -> Int { 1 }
    private static func throwingNumber() throws -> Int { 1 }

    private let queue = makeQueue(suspended: true)

    private var areAllSynchronous: Bool { queue.operations.allSatisfy { $0 is BlockOperation } }
    private var areAllAsync: Bool { queue.operations.allSatisfy { $0.isAsynchronous } }

    @Test("closures that neither await, throw nor return are synchronous", .contract("X1"))
    func synchronous() {
        queue.addOperation {}
        queue.addOperation { print("", terminator: "") }
        queue.addOperation { Self.number() }
        queue.addOperation {
            let number = Self.number()
            if number == 0 { return }
        }
        let block: @Sendable () -> Void = {}
        queue.addOperation(block)
        #expect(areAllSynchronous && queue.operationCount == 5)
        queue.isSuspended = false
        drains(queue)
    }

    @Test("so they are inside an async function", .contract("X1"))
    func synchronousInAsync() async {
        queue.addOperation {}
        queue.addOperation { print("", terminator: "") }
        queue.addOperation { Self.number() }
        queue.addOperation {
            let number = Self.number()
            if number == 0 { return }
        }
        let block: @Sendable () -> Void = {}
        queue.addOperation(block)
        #expect(areAllSynchronous && queue.operationCount == 5)
        queue.isSuspended = false
        drains(queue)
        await Task.yield()
    }

    @Test("closures that await, throw or return a value are async, with the type of what they return", .contract("X1"))
    func async() throws {
        let none = queue.addOperation { await Task.yield() }
        let one = queue.addOperation { await Self.asyncNumber() }
        let two = queue.addOperation {
            let number = await Self.asyncNumber()
            return "\(number)"
        }
        let three = queue.addOperation { try Self.throwingNumber() }
        let four = queue.addOperation(taskPriority: .high) { 4 }
        let five = queue.addOperation { () -> Int in 5 }
        let six = queue.addOperation { @MainActor () async in
            MainActor.assertIsolated()
            return true
        }
        #expect(areAllAsync && queue.operationCount == 7)
        queue.isSuspended = false
        #expect(try awaited { try await none.value } == ())
        let numbers = try awaited { try await [one.value, three.value, four.value, five.value] }
        #expect(numbers == [1, 1, 4, 5])
        #expect(try awaited { try await two.value } == "1")
        #expect(try awaited { try await six.value })
    }
}
