import Dispatch
import OperationEngine
import TestSupport
import Testing

/// One way to misuse the engine, for every case of `Misuse` (contract R).
///
/// Offences are committed in exit tests, each in a process of its own, since the handler belongs to the process.
enum Offence: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
    case startNotReady, startExecuting, startInQueue, startFinished
    case addExecuting, addFinished, addInQueue, addInOtherQueue, addTwiceInBatch
    case negativeLimit, blockWhileExecuting, blockAfterFinish
    case completionWhileExecuting, completionAfterFinish
    case selfDependency, selfDependencyInGraph, waitForSelf, underlyingQueueLate
    case observeOperation, observeQueue

    var misuse: Misuse {
        switch self {
        case .startNotReady: .startNotReady
        case .startExecuting: .startExecuting
        case .startInQueue: .startInQueue
        case .startFinished: .startFinished
        case .addExecuting: .addExecuting
        case .addFinished: .addFinished
        case .addInQueue, .addInOtherQueue, .addTwiceInBatch: .addInQueue
        case .negativeLimit: .negativeLimit(-2)
        case .blockWhileExecuting, .blockAfterFinish: .executionBlockLate
        case .completionWhileExecuting, .completionAfterFinish: .completionBlockLate
        case .selfDependency, .selfDependencyInGraph: .selfDependency
        case .waitForSelf: .waitForSelf
        case .underlyingQueueLate: .underlyingQueueLate
        case .observeOperation: .notObservable(keyPath: String(describing: \Operation.name))
        case .observeQueue: .notObservable(keyPath: String(describing: \OperationQueue.qualityOfService))
        }
    }

    /// The message of the default handler, as far as it is the same in every process.
    var message: String {
        switch self {
        // A key path is described by an address.
        case .observeOperation: "observe: \\Operation."
        case .observeQueue: "observe: \\OperationQueue."
        default: misuse.description
        }
    }

    /// The contract's line.
    var line: String {
        switch self {
        case .startNotReady: "B6"
        case .startExecuting: "B5"
        case .startInQueue: "B9"
        case .startFinished: "B4"
        case .addExecuting: "B10"
        case .addFinished, .addInQueue, .addInOtherQueue, .addTwiceInBatch: "M6"
        case .negativeLimit: "N5"
        case .blockWhileExecuting, .blockAfterFinish: "K7"
        case .completionWhileExecuting, .completionAfterFinish: "I9"
        case .selfDependency, .selfDependencyInGraph: "E17"
        case .waitForSelf: "O5"
        case .underlyingQueueLate: "P5"
        case .observeOperation: "D1"
        case .observeQueue: "D23"
        }
    }

    /// Whether it is an offence in strict mode only.
    var needsStrictness: Bool {
        switch self {
        case .startFinished, .completionWhileExecuting, .completionAfterFinish: true
        default: false
        }
    }

    var testDescription: String { "\(line): \(rawValue)" }

    /// Commits the offence, once. Says whether everything is as if it had not been committed.
    func commit() -> Bool {
        switch self {
        case .startNotReady: startNotReady()
        case .startExecuting: startExecuting()
        case .startInQueue: startInQueue()
        case .startFinished: startFinished()
        case .addExecuting: addExecuting()
        case .addFinished: addFinished()
        case .addInQueue: addInQueue()
        case .addInOtherQueue: addInOtherQueue()
        case .addTwiceInBatch: addTwiceInBatch()
        case .negativeLimit: negativeLimit()
        case .blockWhileExecuting: blockWhileExecuting()
        case .blockAfterFinish: blockAfterFinish()
        case .completionWhileExecuting: completionWhileExecuting()
        case .completionAfterFinish: completionAfterFinish()
        case .selfDependency: selfDependency()
        case .selfDependencyInGraph: selfDependencyInGraph()
        case .waitForSelf: waitForSelf()
        case .underlyingQueueLate: underlyingQueueLate()
        case .observeOperation: observeOperation()
        case .observeQueue: observeQueue()
        }
    }
}

extension Offence {
    private func startNotReady() -> Bool {
        let runs = Counter()
        let (dependency, operation) = (MainOperation(), MainOperation { _ in runs.add() })
        operation.addDependency(dependency)
        let before = StateFlags(operation)
        operation.start()
        guard StateFlags(operation) == before, runs.value == 0 else { return false }
        dependency.start()
        operation.start()
        return runs.value == 1 && operation.isFinished
    }

    private func startExecuting() -> Bool {
        let runs = Counter()
        let states = Recorder<Bool>()
        let operation = MainOperation {
            runs.add()
            $0.start()
            states.append($0.isExecuting && !$0.isFinished)
        }
        operation.start()
        return runs.value == 1 && states.entries == [true] && operation.isFinished
    }

    private func startInQueue() -> Bool {
        let runs = Counter()
        let queue = makeQueue(suspended: true)
        let operation = MainOperation { _ in runs.add() }
        queue.addOperation(operation)
        operation.start()
        guard !operation.isFinished, runs.value == 0, queue.operationCount == 1 else { return false }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return runs.value == 1 && operation.isFinished
    }

    private func startFinished() -> Bool {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.start()
        operation.start()
        return runs.value == 1 && operation.isFinished
    }

    private func addExecuting() -> Bool {
        let queue = makeQueue()
        let counts = Recorder<Int>()
        let runs = Counter()
        let operation = MainOperation {
            runs.add()
            queue.addOperation($0)
            counts.append(queue.operationCount)
        }
        operation.start()
        queue.waitUntilAllOperationsAreFinished()
        return runs.value == 1 && counts.entries == [0] && operation.isFinished
    }

    private func addFinished() -> Bool {
        let queue = makeQueue()
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        operation.start()
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        return runs.value == 1 && queue.operationCount == 0
    }

    private func addInQueue() -> Bool {
        let queue = makeQueue(suspended: true)
        return isAddedOnce(to: queue) { queue.addOperation($0) }
    }

    private func addInOtherQueue() -> Bool {
        let other = makeQueue()
        let isKept = isAddedOnce(to: makeQueue(suspended: true)) { other.addOperation($0) }
        return isKept && other.operationCount == 0
    }

    private func isAddedOnce(to queue: OperationQueue, again: (Operation) -> Void) -> Bool {
        let runs = Counter()
        let operation = MainOperation { _ in runs.add() }
        queue.addOperation(operation)
        again(operation)
        guard queue.operationCount == 1, areSame(queue.operations, [operation]) else { return false }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return runs.value == 1
    }

    private func addTwiceInBatch() -> Bool {
        let queue = makeQueue()
        let runs = Counter()
        let operations = (0..<2).map { _ in MainOperation { _ in runs.add() } }
        queue.addOperations([operations[0], operations[1], operations[0]], waitUntilFinished: true)
        guard queue.operationCount == 0, runs.value == 0 else { return false }
        queue.addOperations(operations, waitUntilFinished: true)
        return runs.value == 2
    }

    private func negativeLimit() -> Bool {
        let queue = makeQueue(limit: 3)
        queue.maxConcurrentOperationCount = -2
        return queue.maxConcurrentOperationCount == 3
    }

    private func blockWhileExecuting() -> Bool {
        let runs = Counter()
        let operation = BlockOperation()
        operation.addExecutionBlock { [unowned operation] in
            runs.add()
            operation.addExecutionBlock { runs.add() }
        }
        operation.start()
        return runs.value == 1 && operation.isFinished
    }

    private func blockAfterFinish() -> Bool {
        let runs = Counter()
        let operation = BlockOperation { runs.add() }
        operation.start()
        operation.addExecutionBlock { runs.add() }
        operation.start()
        return runs.value == 1 && operation.executionBlocks.isEmpty
    }

    private func completionWhileExecuting() -> Bool {
        let log = Recorder<String>()
        let isOtherDone = Gate("the original completion block runs")
        let operation = MainOperation { $0.completionBlock = { log.append("late") } }
        operation.completionBlock = {
            log.append("original")
            isOtherDone.open()
        }
        operation.start()
        return isOtherDone.wait() && log.entries == ["original"]
    }

    private func completionAfterFinish() -> Bool {
        let operation = MainOperation()
        operation.start()
        operation.completionBlock = {}
        return operation.completionBlock == nil
    }

    private func selfDependency() -> Bool {
        let operation = MainOperation()
        operation.addDependency(operation)
        guard operation.dependencies.isEmpty, operation.isReady else { return false }
        operation.start()
        return operation.isFinished
    }

    private func selfDependencyInGraph() -> Bool {
        let (one, other) = (MainOperation(), MainOperation())
        Operation.addDependencies([(1, 0), (0, 2)], among: [one, other, one])
        return [one, other].allSatisfy { $0.dependencies.isEmpty && $0.isReady }
    }

    private func underlyingQueueLate() -> Bool {
        let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
        let queue = makeQueue(suspended: true)
        queue.underlyingQueue = first
        let operation = MainOperation()
        queue.addOperation(operation)
        queue.underlyingQueue = second
        guard queue.underlyingQueue === first else { return false }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return operation.isFinished && queue.underlyingQueue === first
    }

    private func waitForSelf() -> Bool {
        let queue = makeQueue()
        let operation = MainOperation { $0.waitUntilFinished() }
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        return operation.isFinished
    }

    private func observeOperation() -> Bool {
        let calls = Counter()
        let operation = MainOperation()
        let observation = operation.observe(\.name, options: [.initial, .prior]) { _, _ in calls.add() }
        operation.name = "other"
        operation.start()
        return withExtendedLifetime(observation) { calls.value == 0 && operation.isFinished }
    }

    private func observeQueue() -> Bool {
        let calls = Counter()
        let queue = makeQueue()
        let observation = queue.observe(\.qualityOfService, options: .initial) { _, _ in calls.add() }
        queue.qualityOfService = .utility
        return withExtendedLifetime(observation) { calls.value == 0 }
    }
}
