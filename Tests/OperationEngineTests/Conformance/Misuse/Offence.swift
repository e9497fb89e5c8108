import Dispatch
import OperationEngine
import TestSupport
import Testing

/// One way to misuse the engine, for every case of `Misuse` (contract R).
///
/// Offences are committed in exit tests, each in a process of its own, since the handler belongs to the process.
struct Offence: Sendable, CustomTestStringConvertible {
    let name: String
    /// The contract's line.
    let line: String
    let misuse: Misuse
    /// Whether it is an offence in strict mode only.
    let isStrict: Bool
    /// The message of the default handler, as far as it is the same in every process.
    let message: String
    /// Commits the offence, once. Says whether everything is as if it had not been committed.
    let commit: @Sendable () -> Bool

    init(
        _ name: String, _ line: String, _ misuse: Misuse, isStrict: Bool = false, message: String? = nil,
        commit: @escaping @Sendable () -> Bool
    ) {
        (self.name, self.line, self.misuse, self.isStrict) = (name, line, misuse, isStrict)
        (self.message, self.commit) = (message ?? misuse.description, commit)
    }

    var testDescription: String { "\(line): \(name)" }

    static func named(_ name: String) -> Offence { all.first { $0.name == name }! }

    static let all: [Offence] = starts + adding + settings + observation

    private static let starts = [
        Offence("startNotReady", "B6", .startNotReady) {
            let runs = Counter()
            let (dependency, operation) = (MainOperation(), MainOperation { _ in runs.add() })
            operation.addDependency(dependency)
            let before = StateFlags(operation)
            operation.start()
            guard StateFlags(operation) == before, runs.value == 0 else { return false }
            dependency.start()
            operation.start()
            return runs.value == 1 && operation.isFinished
        },
        Offence("startExecuting", "B5", .startExecuting) {
            let runs = Counter()
            let states = Recorder<Bool>()
            let operation = MainOperation {
                runs.add()
                $0.start()
                states.append($0.isExecuting && !$0.isFinished)
            }
            operation.start()
            return runs.value == 1 && states.entries == [true] && operation.isFinished
        },
        Offence("startInQueue", "B9", .startInQueue) {
            let runs = Counter()
            let queue = makeQueue(suspended: true)
            let operation = MainOperation { _ in runs.add() }
            queue.addOperation(operation)
            operation.start()
            guard !operation.isFinished, runs.value == 0, queue.operationCount == 1 else { return false }
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            return runs.value == 1 && operation.isFinished
        },
        Offence("startFinished", "B4", .startFinished, isStrict: true) {
            let runs = Counter()
            let operation = MainOperation { _ in runs.add() }
            operation.start()
            operation.start()
            return runs.value == 1 && operation.isFinished
        },
    ]

    private static let adding = [
        Offence("addExecuting", "B10", .addExecuting) {
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
        },
        Offence("addFinished", "M6", .addFinished) {
            let queue = makeQueue()
            let runs = Counter()
            let operation = MainOperation { _ in runs.add() }
            operation.start()
            queue.addOperation(operation)
            queue.waitUntilAllOperationsAreFinished()
            return runs.value == 1 && queue.operationCount == 0
        },
        Offence("addInQueue", "M6", .addInQueue) {
            let queue = makeQueue(suspended: true)
            return isAddedOnce(to: queue) { queue.addOperation($0) }
        },
        Offence("addInOtherQueue", "M6", .addInQueue) {
            let other = makeQueue()
            let isKept = isAddedOnce(to: makeQueue(suspended: true)) { other.addOperation($0) }
            return isKept && other.operationCount == 0
        },
        Offence("addTwiceInBatch", "M6", .addInQueue) {
            let queue = makeQueue()
            let runs = Counter()
            let operations = (0..<2).map { _ in MainOperation { _ in runs.add() } }
            queue.addOperations([operations[0], operations[1], operations[0]], waitUntilFinished: true)
            guard queue.operationCount == 0, runs.value == 0 else { return false }
            queue.addOperations(operations, waitUntilFinished: true)
            return runs.value == 2
        },
    ]

    private static let settings = [
        Offence("negativeLimit", "N5", .negativeLimit(-2)) {
            let queue = makeQueue(limit: 3)
            queue.maxConcurrentOperationCount = -2
            return queue.maxConcurrentOperationCount == 3
        },
        Offence("blockWhileExecuting", "K7", .executionBlockLate) {
            let runs = Counter()
            let operation = BlockOperation()
            operation.addExecutionBlock { [unowned operation] in
                runs.add()
                operation.addExecutionBlock { runs.add() }
            }
            operation.start()
            return runs.value == 1 && operation.isFinished
        },
        Offence("blockAfterFinish", "K7", .executionBlockLate) {
            let runs = Counter()
            let operation = BlockOperation { runs.add() }
            operation.start()
            operation.addExecutionBlock { runs.add() }
            operation.start()
            return runs.value == 1 && operation.executionBlocks.isEmpty
        },
        Offence("completionWhileExecuting", "I9", .completionBlockLate, isStrict: true) {
            let log = Recorder<String>()
            let isOtherDone = Gate("the original completion block runs")
            let operation = MainOperation { $0.completionBlock = { log.append("late") } }
            operation.completionBlock = {
                log.append("original")
                isOtherDone.open()
            }
            operation.start()
            return isOtherDone.wait() && log.entries == ["original"]
        },
        Offence("completionAfterFinish", "I9", .completionBlockLate, isStrict: true) {
            let operation = MainOperation()
            operation.start()
            operation.completionBlock = {}
            return operation.completionBlock == nil
        },
        Offence("selfDependency", "E17", .selfDependency) {
            let operation = MainOperation()
            operation.addDependency(operation)
            guard operation.dependencies.isEmpty, operation.isReady else { return false }
            operation.start()
            return operation.isFinished
        },
        Offence("selfDependencyInGraph", "E17", .selfDependency) {
            let (one, other) = (MainOperation(), MainOperation())
            Operation.addDependencies([(1, 0), (0, 2)], among: [one, other, one])
            return [one, other].allSatisfy { $0.dependencies.isEmpty && $0.isReady }
        },
        Offence("waitForSelf", "O5", .waitForSelf) {
            let queue = makeQueue()
            let operation = MainOperation { $0.waitUntilFinished() }
            queue.addOperation(operation)
            queue.waitUntilAllOperationsAreFinished()
            return operation.isFinished
        },
        Offence("underlyingQueueLate", "P5", .underlyingQueueLate) {
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
        },
    ]

    private static let observation = [
        Offence(
            "observeOperation", "D1", .notObservable(keyPath: String(describing: \Operation.name)),
            message: "observe: \\Operation."
        ) {
            let calls = Counter()
            let operation = MainOperation()
            let observation = operation.observe(\.name, options: [.initial, .prior]) { _, _ in calls.add() }
            operation.name = "other"
            operation.start()
            return withExtendedLifetime(observation) { calls.value == 0 && operation.isFinished }
        },
        Offence(
            "observeQueue", "D23", .notObservable(keyPath: String(describing: \OperationQueue.qualityOfService)),
            message: "observe: \\OperationQueue."
        ) {
            let calls = Counter()
            let queue = makeQueue()
            let observation = queue.observe(\.qualityOfService, options: .initial) { _, _ in calls.add() }
            queue.qualityOfService = .utility
            return withExtendedLifetime(observation) { calls.value == 0 }
        },
    ]
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
