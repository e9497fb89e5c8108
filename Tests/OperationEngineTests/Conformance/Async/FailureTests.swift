import OperationEngine
import TestSupport
import Testing

/// How a dependency ends.
enum DependencyEnd: CaseIterable, Codable, Sendable {
    case succeeded, failed, skipped, cancelledBeforeStart, cancelledInMain, cancelledAndFailed

    var isFailure: Bool { [.failed, .skipped, .cancelledAndFailed].contains(self) }
    var isCancellation: Bool { [.cancelledBeforeStart, .cancelledInMain, .cancelledAndFailed].contains(self) }

    /// An operation that has ended so.
    func operation() -> Operation {
        let operation: MainOperation
        switch self {
        case .succeeded: operation = MainOperation()
        case .failed: operation = MainOperation { $0.fail(with: Fault(number: 1)) }
        case .skipped:
            operation = MainOperation()
            operation.dependencyFailurePolicy = .skip
            operation.addDependency(DependencyEnd.failed.operation())
        case .cancelledBeforeStart:
            operation = MainOperation()
            operation.cancel()
        case .cancelledInMain: operation = MainOperation { $0.cancel() }
        case .cancelledAndFailed:
            operation = MainOperation {
                $0.cancel()
                $0.fail(with: Fault(number: 1))
            }
        }
        operation.name = "\(self)"
        operation.start()
        return operation
    }
}

/// A dependent's settings.
struct FailureRule: Codable, Sendable {
    let policy: UInt8
    let countsCancelled: Bool
    /// In a queue, or started by hand.
    let isQueued: Bool

    static let all = DependencyFailurePolicy.allCases.flatMap { policy in
        [(false, false), (false, true), (true, false), (true, true)].map {
            FailureRule(policy: policy.rawValue, countsCancelled: $0.0, isQueued: $0.1)
        }
    }
}

@Suite("X2: failures", .blocking)
struct FailureTests {
    @Test("the first failure counts, and none after the finish", .contract("X2"))
    func failing() {
        let accepted = Recorder<Bool>()
        let operation = MainOperation {
            accepted.append($0.failure == nil)
            accepted.append($0.fail(with: Fault(number: 1)))
            accepted.append($0.fail(with: Fault(number: 2)))
            accepted.append($0.failure as? Fault == Fault(number: 1) && $0.ending == nil && $0.isExecuting)
        }
        operation.start()
        #expect(accepted.entries == [true, true, false, true])
        #expect(operation.failure as? Fault == Fault(number: 1) && operation.ending?.kind == "failed")
        #expect(StateFlags(operation) == StateFlags(ready: true, finished: true))
        let other = MainOperation()
        other.start()
        #expect(!other.fail(with: Fault(number: 3)) && other.failure == nil && other.ending?.kind == "succeeded")
    }

    @Test("by default a dependent of a failed operation runs, and can look for itself", .contract("X2", "E8"))
    func byDefault() {
        let queue = makeQueue()
        let dependency = MainOperation { $0.fail(with: Fault(number: 1)) }
        let seen = Recorder<Fault?>()
        let dependent = MainOperation { seen.append($0.dependencies.first?.failure as? Fault) }
        dependent.addDependency(dependency)
        queue.addOperations([dependent, dependency], waitUntilFinished: true)
        #expect(seen.entries == [Fault(number: 1)] && dependent.ending?.kind == "succeeded")
    }

    @Test(
        "every policy after every end of a dependency", .contract("X2"), arguments: FailureRule.all,
        DependencyEnd.allCases)
    func policies(rule: FailureRule, end: DependencyEnd) throws {
        let policy = try #require(DependencyFailurePolicy(rawValue: rule.policy))
        let runs = Counter()
        let heard = Recorder<String>()
        let completed = Gate("the completion block runs")
        let dependent = MainOperation { _ in runs.add() }
        dependent.dependencyFailurePolicy = policy
        dependent.treatsCancelledDependenciesAsFailed = rule.countsCancelled
        dependent.completionBlock = { completed.open() }
        let tokens = [
            dependent.observe(\.isExecuting) { operation, _ in heard.append("executing \(operation.isExecuting)") },
            dependent.observe(\.isFinished) { _, _ in heard.append("finished") },
        ]
        for other in [DependencyEnd.succeeded, end, .failed] where other != .failed || end != .succeeded {
            dependent.addDependency(other.operation())
        }
        if end.isCancellation, !end.isFailure { dependent.removeDependency(dependent.dependencies[2]) }
        if rule.isQueued { makeQueue().addOperation(dependent) } else { dependent.start() }
        finishes(dependent)
        completed.wait()

        let hasNotSucceeded = end.isFailure || end.isCancellation && rule.countsCancelled
        let isLeftOut = policy != .run && hasNotSucceeded
        #expect(runs.value == (isLeftOut ? 0 : 1))
        #expect(heard.entries == (isLeftOut ? ["finished"] : ["executing true", "executing false", "finished"]))
        #expect(StateFlags(dependent) == StateFlags(ready: true, finished: true))
        let ending = try #require(dependent.ending)
        switch (isLeftOut, policy) {
        case (true, .skip):
            guard case .skipped(let reason) = ending else {
                Issue.record("\(ending)")
                return
            }
            #expect(dependent.failure == nil)
            #expect(reason.dependency.contains("'\(end)'"))
            #expect(end.isFailure ? reason.cause as? Fault == Fault(number: 1) : reason.cause is CancellationError)
        case (true, _):
            let reason = try #require(dependent.failure as? DependencyFailure)
            #expect(ending.kind == "failed")
            #expect(reason.dependency.contains("'\(end)'"))
            #expect(end.isFailure ? reason.cause as? Fault == Fault(number: 1) : reason.cause is CancellationError)
        default:
            #expect(ending.kind == "succeeded" && dependent.failure == nil)
        }
        withExtendedLifetime(tokens) {}
    }

    @Test("settings as set", .contract("X2"))
    func settings() {
        let operation = MainOperation()
        #expect(operation.dependencyFailurePolicy == .run && !operation.treatsCancelledDependenciesAsFailed)
        for policy in DependencyFailurePolicy.allCases {
            for counts in [true, false] {
                operation.dependencyFailurePolicy = policy
                operation.treatsCancelledDependenciesAsFailed = counts
                #expect(operation.dependencyFailurePolicy == policy)
                #expect(operation.treatsCancelledDependenciesAsFailed == counts)
            }
        }
    }

    @Test(
        "an operation that runs all the same stops the news; one that fails itself passes its own on", .contract("X2"))
    func stopping() {
        let failed = MainOperation { $0.fail(with: Fault(number: 1)) }
        let undaunted = MainOperation()
        let after = MainOperation()
        after.dependencyFailurePolicy = .fail
        let second = MainOperation { $0.fail(with: Fault(number: 2)) }
        let last = MainOperation()
        last.dependencyFailurePolicy = .fail
        let chain = [failed, undaunted, after, second, last]
        for (dependency, dependent) in zip(chain, chain.dropFirst()) { dependent.addDependency(dependency) }
        makeQueue().addOperations(chain, waitUntilFinished: true)
        #expect(chain.map { $0.ending?.kind } == ["failed", "succeeded", "succeeded", "failed", "failed"])
        #expect((last.failure as? DependencyFailure)?.cause as? Fault == Fault(number: 2))
    }

    @Test("a cancelled operation is cancelled, whatever its policy", .contract("X2"))
    func cancelledDependent() {
        for policy in DependencyFailurePolicy.allCases {
            let dependent = MainOperation()
            dependent.dependencyFailurePolicy = policy
            dependent.addDependency(DependencyEnd.failed.operation())
            dependent.cancel()
            dependent.start()
            #expect(dependent.ending?.kind == "cancelled" && dependent.failure == nil)
        }
    }

    @Test("an error of its own counts more than a dependency's", .contract("X2"))
    func ownErrorFirst() {
        for policy in [DependencyFailurePolicy.skip, .fail] {
            let runs = Counter()
            let dependent = MainOperation { _ in runs.add() }
            dependent.dependencyFailurePolicy = policy
            dependent.addDependency(DependencyEnd.failed.operation())
            dependent.fail(with: Fault(number: 8))
            dependent.start()
            #expect(dependent.failure as? Fault == Fault(number: 8) && runs.value == 0)
        }
    }

    @Test("a removed dependency does not count", .contract("X2"))
    func removed() {
        let failed = DependencyEnd.failed.operation()
        let dependent = MainOperation()
        dependent.dependencyFailurePolicy = .fail
        dependent.addDependency(failed)
        dependent.removeDependency(failed)
        dependent.start()
        #expect(dependent.ending?.kind == "succeeded")
    }

    @Test("a skipped block operation runs none of its blocks and releases them", .contract("X2", "K13"))
    func blocks() {
        let freed = Counter()
        let runs = Counter()
        let operation = BlockOperation()
        do {
            let token = Token(released: freed)
            for _ in 0..<3 {
                operation.addExecutionBlock {
                    token.hold()
                    runs.add()
                }
            }
        }
        operation.dependencyFailurePolicy = .skip
        operation.addDependency(DependencyEnd.failed.operation())
        makeQueue().addOperation(operation)
        finishes(operation)
        #expect(runs.value == 0)
        freed.wait(for: 1)
    }

    @Test("an async operation that is left out says why instead of a value", .contract("X2", "X1"))
    func asyncOperations() throws {
        let queue = makeQueue()
        let failed = AsyncOperation { () async throws -> Int in throw Fault(number: 5) }
        let runs = Counter()
        for policy in [DependencyFailurePolicy.skip, .fail] {
            let dependent = AsyncOperation { () async in
                runs.add()
                return 1
            }
            dependent.dependencyFailurePolicy = policy
            dependent.addDependency(failed)
            queue.addOperation(dependent)
            if failed.ending == nil { queue.addOperation(failed) }
            let error = #expect(throws: DependencyFailure.self) { try awaited { try await dependent.value } }
            #expect(error?.cause as? Fault == Fault(number: 5))
            #expect(dependent.ending?.kind == (policy == .skip ? "skipped" : "failed"))
        }
        #expect(runs.value == 0)
    }

    @Test(
        "an invocation operation fails with its method's error, and has no result if it is left out",
        .contract("X2", "L9"))
    func invocations() throws {
        final class Target: Sendable {
            func fault() throws -> Int { throw Fault(number: 6) }
            func number() -> Int { 1 }
        }
        let failed = InvocationOperation(target: Target(), method: Target.fault)
        let skipped = InvocationOperation(target: Target(), method: Target.number)
        skipped.dependencyFailurePolicy = .skip
        skipped.addDependency(failed)
        makeQueue().addOperations([failed, skipped], waitUntilFinished: true)
        #expect(failed.failure as? Fault == Fault(number: 6))
        #expect(throws: Fault(number: 6)) { try failed.result }
        #expect(skipped.failure == nil && skipped.ending?.kind == "skipped")
        #expect(throws: DependencyFailure.self) { try skipped.result }
    }

    @Test("it takes its turn: at limit 1 a skipped operation is finished in its place", .contract("X2"))
    func takesItsTurn() {
        let queue = makeQueue(limit: 1, suspended: true)
        let order = Recorder<Int>()
        let operations = numbered(3, into: order)
        operations[1].dependencyFailurePolicy = .skip
        operations[1].addDependency(DependencyEnd.failed.operation())
        let tokens = operations.enumerated().map { index, operation in
            operation.observe(\.isFinished) { _, _ in order.append(10 + index) }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        drains(queue)
        #expect(order.entries == [0, 10, 11, 2, 12])
        withExtendedLifetime(tokens) {}
    }

    @Test("the news goes along a chain of 1,000,000", .contract("X2", "E22"), arguments: [UInt8(1), 2])
    func longChain(policy: UInt8) throws {
        let policy = try #require(DependencyFailurePolicy(rawValue: policy))
        let length = Scale.of(policy == .fail ? 1_000_000 : 100_000)
        let freed = Counter()
        let runs = Counter()
        do {
            let chain = (0..<length).map { _ in CountedOperation(freed: freed) { runs.add() } }
            for (dependency, dependent) in zip(chain, chain.dropFirst()) {
                dependent.dependencyFailurePolicy = policy
                dependent.addDependency(dependency)
            }
            chain[0].fail(with: Fault(number: 1))
            let queue = makeQueue()
            queue.addOperations(chain, waitUntilFinished: false)
            drains(queue)
            let last = try #require(chain.last?.ending)
            switch last {
            case .skipped(let reason): #expect(policy == .skip && reason.cause as? Fault == Fault(number: 1))
            case .failed(let error):
                #expect(policy == .fail && (error as? DependencyFailure)?.cause as? Fault == Fault(number: 1))
            default: Issue.record("\(last)")
            }
        }
        #expect(runs.value == 1)
        freed.wait(for: length)
    }

    @Test("one failed dependency among 100,000", .contract("X2"))
    func join() {
        let width = Scale.of(100_000)
        let queue = makeQueue()
        let join = MainOperation()
        join.dependencyFailurePolicy = .fail
        let parts = (0..<width).map { index in
            MainOperation { if index == width / 2 { $0.fail(with: Fault(number: index)) } }
        }
        for part in parts { join.addDependency(part) }
        queue.addOperation(join)
        queue.addOperations(parts, waitUntilFinished: false)
        drains(queue)
        #expect((join.failure as? DependencyFailure)?.cause as? Fault == Fault(number: width / 2))
    }
}
