import OperationEngine
import TestSupport
import Testing

@Suite("D: observation of operations", .blocking)
struct ObservationTests {
    @Test(
        "an observer of one dependent may wait for another one that the same finish has made ready",
        .contract("D15", "E25"))
    func observerWaitsForSibling() {
        let (queue, waited, hasRun) = (makeQueue(), Recorder<Bool>(), Gate())
        let (first, other, observed) = (BlockOperation {}, BlockOperation { hasRun.open() }, BlockOperation {})
        for dependent in [other, observed] { dependent.addDependency(first) }
        // The engine does not see this wait, so it cannot help then.
        let observation = observed.observe(\.isReady) { _, _ in waited.append(hasRun.wait()) }
        queue.addOperations([other, observed, first], waitUntilFinished: false)
        drains(queue)
        withExtendedLifetime(observation) { #expect(waited.entries == [true]) }
    }

    @Test("every property can be observed", .contract("D1"))
    func observableProperties() {
        let (operation, dependency) = (MainOperation(), MainOperation())
        let heard = Recorder<String>()
        let tokens = [
            operation.observe(\.isCancelled) { _, _ in heard.append("isCancelled") },
            operation.observe(\.isExecuting) { _, _ in heard.append("isExecuting") },
            operation.observe(\.isFinished) { _, _ in heard.append("isFinished") },
            operation.observe(\.isReady) { _, _ in heard.append("isReady") },
            operation.observe(\.isAsynchronous) { _, _ in heard.append("isAsynchronous") },
            operation.observe(\.isConcurrent) { _, _ in heard.append("isConcurrent") },
            operation.observe(\.dependencies) { _, _ in heard.append("dependencies") },
            operation.observe(\.queuePriority) { _, _ in heard.append("queuePriority") },
            operation.observe(\.completionBlock) { _, _ in heard.append("completionBlock") },
        ]
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        operation.queuePriority = .high
        operation.completionBlock = {}
        operation.completionBlock = nil
        operation.willChangeValue(for: \.isAsynchronous)
        operation.didChangeValue(for: \.isAsynchronous)
        operation.start()
        let other = MainOperation()
        let cancelled = other.observe(\.isCancelled) { _, _ in heard.append("isCancelled") }
        other.cancel()
        #expect(
            Set(heard.entries) == [
                "isCancelled", "isExecuting", "isFinished", "isReady", "isAsynchronous", "isConcurrent", "dependencies",
                "queuePriority", "completionBlock",
            ])
        withExtendedLifetime((tokens, cancelled)) {}
    }

    @Test("a handler gets the operation as what it is", .contract("D1"))
    func handlerArgument() {
        let operation = MainOperation()
        let seen = Guarded<MainOperation?>(nil)
        let token = operation.observe(\.isFinished) { operation, _ in seen.withLock { $0 = operation } }
        operation.start()
        #expect(seen.read() === operation)
        withExtendedLifetime(token) {}
    }

    @Test(
        "a pair may name the property in either spelling", .contract("D2"),
        arguments: [("isExecuting", "isFinished"), ("executing", "finished")])
    func alternateSpellings(executing: String, finished: String) {
        let operation = PairOperation(executing: executing, finished: finished)
        let log = ChangeLog()
        log.watch(operation)
        let queue = makeQueue()
        queue.addOperation(operation)
        drains(queue)
        #expect(log.entries == ["executing=1", "executing=0", "finished=1"])
    }

    @Test("the short spellings of readiness and cancellation, too", .contract("D2"))
    func otherAlternateSpellings() {
        let operation = MainOperation()
        let log = ChangeLog()
        log.watch(operation)
        for key in ["ready", "isReady", "cancelled", "isCancelled"] {
            operation.willChangeValue(forKey: key)
            operation.didChangeValue(forKey: key)
        }
        operation.willChangeValue(forKey: "unknown")
        operation.didChangeValue(forKey: "unknown")
        #expect(log.entries == ["ready=1", "ready=1", "cancelled=0", "cancelled=0"])
    }

    @Test("priority and completion block can be set, the others only read", .contract("D3"))
    func writable() {
        #expect(isWritable(\.queuePriority) && isWritable(\.completionBlock))
        #expect(!isWritable(\.isCancelled) && !isWritable(\.isExecuting) && !isWritable(\.isFinished))
        #expect(!isWritable(\.isReady) && !isWritable(\.isAsynchronous) && !isWritable(\.dependencies))
    }

    @Test("a change carries what was asked for and nothing else", .contract("D4"))
    func options() {
        let all: [ObservingOptions] = [[], .new, .old, [.new, .old]]
        for options in all {
            let operation = MainOperation()
            let heard = Recorder<[Operation.QueuePriority?]>()
            let token = operation.observe(\.queuePriority, options: options) { _, change in
                #expect(change.kind == .setting && !change.isPrior)
                heard.append([change.oldValue, change.newValue])
            }
            operation.queuePriority = .veryHigh
            let expected: [Operation.QueuePriority?] = [
                options.contains(.old) ? .normal : nil, options.contains(.new) ? .veryHigh : nil,
            ]
            #expect(heard.entries == [expected])
            withExtendedLifetime(token) {}
        }
    }

    @Test("an initial call comes within the registration, with the present value if asked for", .contract("D4"))
    func initial() {
        let operation = MainOperation()
        operation.queuePriority = .low
        let heard = Recorder<[Operation.QueuePriority?]>()
        let bare = operation.observe(\.queuePriority, options: [.initial, .old]) { _, change in
            heard.append([change.oldValue, change.newValue])
        }
        let full = operation.observe(\.queuePriority, options: [.initial, .new, .old]) { _, change in
            #expect(!change.isPrior)
            heard.append([change.oldValue, change.newValue])
        }
        #expect(heard.entries == [[nil, nil], [nil, .low]])
        withExtendedLifetime((bare, full)) {}
    }

    @Test("a prior call comes before the change, and never with a new value", .contract("D4"))
    func prior() {
        let operation = MainOperation()
        let heard = Recorder<String>()
        let token = operation.observe(\.isCancelled, options: [.prior, .new, .old]) { operation, change in
            let values = [change.oldValue, change.newValue].map { $0.map { $0 ? "1" : "0" } ?? "-" }
            heard.append("\(change.isPrior) \(values.joined()) \(operation.isCancelled)")
        }
        operation.cancel()
        #expect(heard.entries == ["true 0- false", "false 01 true"])
        withExtendedLifetime(token) {}
    }

    @Test("an optional value that is nil is distinguished from one not asked for", .contract("D4", "D17"))
    func optionalValues() {
        let operation = MainOperation()
        let heard = Recorder<String>()
        @Sendable func describe(_ value: (@Sendable () -> Void)??) -> String {
            value.map { $0 == nil ? "nil" : "block" } ?? "absent"
        }
        let options: [ObservingOptions] = [[], .new, [.new, .old]]
        let tokens = options.map {
            operation.observe(\.completionBlock, options: $0) { _, change in
                heard.append("\(describe(change.oldValue)) \(describe(change.newValue))")
            }
        }
        operation.completionBlock = {}
        operation.completionBlock = nil
        #expect(
            heard.entries == [
                "absent absent", "absent block", "nil block", "absent absent", "absent nil", "block nil",
            ])
        withExtendedLifetime(tokens) {}
    }

    @Test("a handler runs on the thread that makes the change", .contract("D5"))
    func thread() {
        let operation = MainOperation()
        let mainThread = Guarded<Int32>(0)
        let body = MainOperation { _ in mainThread.withLock { $0 = ThreadFacts.id } }
        let heard = Recorder<Int32>()
        let tokens = [
            operation.observe(\.isCancelled) { _, _ in heard.append(ThreadFacts.id) },
            body.observe(\.isExecuting) { _, _ in heard.append(ThreadFacts.id) },
            body.observe(\.isFinished) { _, _ in heard.append(ThreadFacts.id) },
        ]
        operation.cancel()
        let queue = makeQueue()
        queue.addOperation(body)
        drains(queue)
        let worker = mainThread.read()
        #expect(heard.entries == [ThreadFacts.id, worker, worker, worker])
        #expect(worker != ThreadFacts.id)
        withExtendedLifetime(tokens) {}
    }

    @Test("another priority is heard of, the same one is not", .contract("D16"))
    func priority() {
        let operation = MainOperation()
        let heard = Recorder<Operation.QueuePriority>()
        let token = operation.observe(\.queuePriority, options: .new) { _, change in
            if let value = change.newValue { heard.append(value) }
        }
        for priority in [Operation.QueuePriority.normal, .high, .high, .veryLow] { operation.queuePriority = priority }
        #expect(heard.entries == [.high, .veryLow])
        withExtendedLifetime(token) {}
    }

    @Test("a completion block is heard of when it is set, and when it is cleared to run", .contract("D17", "I6"))
    func completionBlock() {
        let operation = MainOperation()
        let heard = Recorder<String>()
        let token = operation.observe(\.completionBlock, options: .new) { _, change in
            heard.append(change.newValue.map { $0 == nil ? "nil" : "block" } ?? "absent")
        }
        let ran = Gate("the completion block runs")
        operation.completionBlock = { ran.open() }
        let queue = makeQueue()
        queue.addOperation(operation)
        ran.wait()
        #expect(heard.entries == ["block", "nil"])
        #expect(operation.completionBlock == nil)
        withExtendedLifetime(token) {}
    }

    @Test("an asynchronous operation may announce by hand in its completion block", .contract("I11"))
    func announcementInCompletionBlock() {
        let operation = AsynchronousOperation { $0.end() }
        let heard = Recorder<String>()
        let done = Gate("the completion block runs")
        let token = operation.observe(\.isAsynchronous, options: .new) { _, _ in heard.append("announced") }
        operation.completionBlock = { [unowned operation] in
            operation.willChangeValue(for: \.isAsynchronous)
            operation.didChangeValue(for: \.isAsynchronous)
            done.open()
        }
        let queue = makeQueue()
        queue.addOperation(operation)
        done.wait()
        #expect(heard.entries == ["announced"])
        withExtendedLifetime((token, operation)) {}
    }

    @Test("a block operation is observed like any other, with dependencies and priority", .contract("K14", "D6"))
    func blockOperation() {
        let log = ChangeLog()
        let first = BlockOperation { log.append("first") }
        let second = BlockOperation()
        let blocks = Rendezvous(3)
        for _ in 0..<3 { second.addExecutionBlock { blocks.meet() } }
        second.addDependency(first)
        log.watch(second)
        second.queuePriority = .high
        let queue = makeQueue()
        queue.addOperations([second, first], waitUntilFinished: false)
        drains(queue)
        #expect(log.entries == ["first", "ready=1", "executing=1", "executing=0", "finished=1"])
        #expect(second.queuePriority == .high)
    }
}

/// An asynchronous operation that announces its state under given names.
private final class PairOperation: Operation, @unchecked Sendable {
    private let (executingKey, finishedKey): (String, String)
    private let flags = Guarded((executing: false, finished: false))

    init(executing: String, finished: String) {
        (executingKey, finishedKey) = (executing, finished)
        super.init()
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { flags.read().executing }
    override var isFinished: Bool { flags.read().finished }

    override func start() {
        willChangeValue(forKey: executingKey)
        flags.withLock { $0.executing = true }
        didChangeValue(forKey: executingKey)
        willChangeValue(forKey: finishedKey)
        willChangeValue(forKey: executingKey)
        flags.withLock { $0 = (false, true) }
        didChangeValue(forKey: executingKey)
        didChangeValue(forKey: finishedKey)
    }
}
