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

    @Test(
        "each option adds to the calls what it says, for every property that the engine changes",
        .contract("D1", "D4", "D12", "D14", "D16", "D17"), arguments: ObservedProperty<MainOperation>.all)
    func options(property: ObservedProperty<MainOperation>) {
        for options in observingOptions {
            let (operation, log) = (MainOperation(), Recorder<String>())
            let token = property.observe(operation, options, log)
            property.change(operation)
            #expect(log.entries == property.story(options), "\(options)")
            withExtendedLifetime(token) {}
        }
    }

    @Test(
        "a subclass announces any property in either spelling, from one thread or two: a value that has not changed is the old one too",
        .contract("D1", "D2", "D22", "C12"), arguments: ObservedProperty<MainOperation>.all, [false, true])
    func announced(property: ObservedProperty<MainOperation>, isOnTwoThreads: Bool) {
        for key in property.keys {
            let (operation, log) = (MainOperation(), Recorder<String>())
            let token = property.observe(operation, [.old, .new], log)
            onThreads(1) { _ in if isOnTwoThreads { operation.willChangeValue(forKey: key) } }
            if !isOnTwoThreads { operation.willChangeValue(forKey: key) }
            operation.didChangeValue(forKey: key)
            operation.willChangeValue(forKey: "unknown")
            operation.didChangeValue(forKey: "unknown")
            #expect(log.entries == ["\(property.values[0])→\(property.values[0])"], "\(key)")
            withExtendedLifetime(token) {}
        }
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

    @Test("priority and completion block can be set, the others only read", .contract("D3"))
    func writable() {
        #expect(isWritable(\.queuePriority) && isWritable(\.completionBlock))
        #expect(!isWritable(\.isCancelled) && !isWritable(\.isExecuting) && !isWritable(\.isFinished))
        #expect(!isWritable(\.isReady) && !isWritable(\.isAsynchronous) && !isWritable(\.dependencies))
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
