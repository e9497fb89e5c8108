import TestSupport
import Testing

#if ORACLE
    import Foundation
#else
    import OperationEngine
#endif

/// The three ways to name a property in an announcement.
enum Spelling: String, CaseIterable, Codable, Sendable {
    case key, shortKey, keyPath

    func willChange(finished operation: Operation) {
        switch self {
        case .key: operation.willChangeValue(forKey: "isFinished")
        case .shortKey: operation.willChangeValue(forKey: "finished")
        case .keyPath: operation.willChangeValue(for: \.isFinished)
        }
    }

    func didChange(finished operation: Operation) {
        switch self {
        case .key: operation.didChangeValue(forKey: "isFinished")
        case .shortKey: operation.didChangeValue(forKey: "finished")
        case .keyPath: operation.didChangeValue(for: \.isFinished)
        }
    }

    func willChange(executing operation: Operation) {
        switch self {
        case .key: operation.willChangeValue(forKey: "isExecuting")
        case .shortKey: operation.willChangeValue(forKey: "executing")
        case .keyPath: operation.willChangeValue(for: \.isExecuting)
        }
    }

    func didChange(executing operation: Operation) {
        switch self {
        case .key: operation.didChangeValue(forKey: "isExecuting")
        case .shortKey: operation.didChangeValue(forKey: "executing")
        case .keyPath: operation.didChangeValue(for: \.isExecuting)
        }
    }
}

/// The operation that many tutorials show: `start` detaches a thread for `main`, which ends with the nested pair of
/// announcements.
final class DetachingOperation: Operation, @unchecked Sendable {
    enum Variant: Codable, Sendable {
        /// The end is announced from the inside out, and a cancelled one sets finished.
        case correct
        /// The end is announced from the outside in, and a cancelled one leaves finished false.
        case careless
    }

    let mains = Counter()
    let startReturns = Counter()
    private let executing = Guarded(false)
    private let finished = Guarded(false)
    private let spelling: Spelling
    private let variant: Variant
    private let body: @Sendable () -> Void

    init(_ spelling: Spelling = .key, _ variant: Variant = .correct, body: @escaping @Sendable () -> Void = {}) {
        self.spelling = spelling
        self.variant = variant
        self.body = body
        super.init()
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { executing.read() }
    override var isFinished: Bool { finished.read() }

    override func start() {
        if isCancelled {
            announceEnd(isFinished: variant == .correct)
            startReturns.add()
            return
        }
        spelling.willChange(executing: self)
        executing.withLock { $0 = true }
        onNewThread { self.main() }
        spelling.didChange(executing: self)
        startReturns.add()
    }

    override func main() {
        mains.add()
        body()
        spelling.willChange(finished: self)
        spelling.willChange(executing: self)
        executing.withLock { $0 = false }
        finished.withLock { $0 = true }
        switch variant {
        case .correct:
            spelling.didChange(executing: self)
            spelling.didChange(finished: self)
        case .careless:
            spelling.didChange(finished: self)
            spelling.didChange(executing: self)
        }
    }

    func announceEnd(isFinished: Bool) {
        spelling.willChange(finished: self)
        finished.withLock { $0 = isFinished }
        spelling.didChange(finished: self)
    }
}

@Suite("C: the asynchronous operations of the tutorials", .blocking)
struct SeedOperationTests {
    @Test(
        "start detaches a thread, whose announcement ends the operation and frees its slot",
        .contract("C1", "C2", "C6", "C12", "N2"),
        arguments: Spelling.allCases, [1, 2, -1])
    func detaching(spelling: Spelling, limit: Int) {
        let queue = makeQueue(limit: limit)
        let level = HighWater()
        let operations = (0..<40).map { index in
            DetachingOperation(spelling, index % 2 == 0 ? .correct : .careless) {
                level.inside { _ = ThreadFacts.count }
            }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        drains(queue)
        #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting && $0.mains.value == 1 })
        if limit > 0 { #expect(level.peak <= limit) }
    }

    @Test("the end unlocks dependents in other queues", .contract("C2", "C12", "E3"), arguments: Spelling.allCases)
    func dependentsElsewhere(spelling: Spelling) {
        let release = Gate("the work may end")
        let runs = Counter()
        let operation = DetachingOperation(spelling) { release.wait() }
        let queues = [makeQueue(limit: 1), makeQueue(), makeQueue(limit: 2)]
        for queue in queues {
            let dependent = MainOperation { _ in runs.add(operation.isFinished ? 1 : 100) }
            dependent.addDependency(operation)
            queue.addOperation(dependent)
        }
        queues[0].addOperation(operation)
        operation.startReturns.wait(for: 1)
        settle()
        #expect(runs.value == 0)
        release.open()
        for queue in queues { drains(queue) }
        #expect(runs.value == 3)
    }

    @Test(
        "cancelled before its start, it announces isFinished only, and unlocks", .contract("C7", "C8"),
        arguments: Spelling.allCases)
    func cancelled(spelling: Spelling) {
        let runs = Counter()
        let queue = makeQueue(limit: 1, suspended: true)
        let elsewhere = makeQueue()
        let operations = (0..<5).map { _ in DetachingOperation(spelling) }
        for operation in operations {
            let dependent = MainOperation { _ in runs.add() }
            dependent.addDependency(operation)
            elsewhere.addOperation(dependent)
        }
        queue.addOperations(operations, waitUntilFinished: false)
        queue.cancelAllOperations()
        #expect(operations.allSatisfy { !$0.isFinished } && runs.value == 0)
        queue.isSuspended = false
        drains(queue)
        drains(elsewhere)
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 0 })
        #expect(runs.value == 5)
        // The end is announced inside `start`, which returns a little later.
        eventually("each start returns once") { operations.allSatisfy { $0.startReturns.value == 1 } }
    }

    @Test(
        "a start that leaves isFinished false when cancelled stalls the queue", .contract("C3", "C5", "C7"),
        arguments: Spelling.allCases)
    func stallsWhenCancelled(spelling: Spelling) {
        let runs = Counter()
        let queue = makeQueue(limit: 1, suspended: true)
        let operation = DetachingOperation(spelling, .careless)
        let dependent = MainOperation { _ in runs.add() }
        dependent.addDependency(operation)
        let elsewhere = makeQueue()
        elsewhere.addOperation(dependent)
        queue.addOperation(operation)
        queue.addOperation { runs.add() }
        operation.cancel()
        queue.isSuspended = false
        operation.startReturns.wait(for: 1)
        settle()
        #expect(!operation.isFinished && runs.value == 0 && queue.operationCount == 2)
        operation.announceEnd(isFinished: true)
        drains(queue)
        finishes(dependent)
        #expect(runs.value == 2)
    }

    @Test("announcements of isExecuting free no slot and unlock nobody", .contract("C4"), arguments: Spelling.allCases)
    func executingOnly(spelling: Spelling) {
        let runs = Counter()
        let queue = makeQueue(limit: 1)
        let operation = AsynchronousOperation()
        queue.addOperation(operation)
        queue.addOperation { runs.add() }
        operation.started.wait()
        for _ in 0..<10 {
            spelling.willChange(executing: operation)
            spelling.didChange(executing: operation)
        }
        settle()
        #expect(runs.value == 0 && queue.operationCount == 2)
        operation.end()
        drains(queue)
        #expect(runs.value == 1)
    }

    @Test("the end announced by several threads at once counts once", .contract("C11"))
    func announcedByMany() {
        let queue = makeQueue(limit: 1)
        let level = HighWater()
        let completions = Counter()
        let operations = (0..<Scale.of(200)).map { _ in AsynchronousOperation() }
        for operation in operations {
            operation.completionBlock = { completions.add() }
            queue.addOperation(operation)
            queue.addOperation { level.inside { _ = ThreadFacts.count } }
        }
        onThreads(3) { _ in
            for operation in operations {
                operation.started.wait()
                operation.end()
            }
        }
        drains(queue)
        completions.wait(for: operations.count)
        #expect(completions.value == operations.count && level.peak == 1 && queue.operationCount == 0)
    }

    @Test(
        "cancelled while the queue starts them: each ends once, dependents run", .contract("C7", "C8", "J13"),
        arguments: [1, 2, -1])
    func cancelRaces(limit: Int) {
        let runs = Counter()
        let queue = makeQueue(limit: limit)
        let elsewhere = makeQueue()
        let operations = (0..<Scale.of(1_000)).map { _ in AsynchronousOperation { $0.end() } }
        for operation in operations {
            let dependent = MainOperation { _ in runs.add() }
            dependent.addDependency(operation)
            elsewhere.addOperation(dependent)
        }
        onThreads(2) { thread in
            for operation in operations {
                if thread == 0 { queue.addOperation(operation) } else { operation.cancel() }
            }
        }
        drains(queue)
        drains(elsewhere)
        #expect(operations.allSatisfy { $0.isFinished && $0.starts.value == 1 } && runs.value == operations.count)
    }

    @Test("one that only says that it is asynchronous ends when its main returns", .contract("C10"))
    func saysSoOnly() {
        final class SaysSo: Operation, @unchecked Sendable {
            let mains = Counter()
            override var isAsynchronous: Bool { true }
            override func main() { mains.add() }
        }
        let queue = makeQueue(limit: 1)
        let operations = (0..<50).map { _ in SaysSo() }
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(operations.allSatisfy { $0.isFinished && $0.mains.value == 1 })
    }
}
