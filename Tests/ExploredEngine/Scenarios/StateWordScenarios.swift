import Interleaving

/// The state word: who starts, finishes, cancels, waits, observes, and sets the completion block.
let stateWordScenarios: [Scenario] = [
    Scenario("start-cancel-wait", "J13, B7, O1: main runs unless cancelled first; the waiter returns at the end") {
        exploration in
        let log = Log()
        let operation = BlockOperation { log.add("main") }
        exploration.run(
            { operation.start() },
            { operation.cancel() },
            {
                operation.waitUntilFinished()
                exploration.check(operation.isFinished, "O1: the waiter returned before the end")
            })
        exploration.check(operation.isFinished, "B7: not finished")
        exploration.check(log.count("main") <= 1, "A5: main has run twice")
        exploration.check(log.count("main") == 1 || operation.isCancelled, "J13: neither run nor cancelled")
    },
    Scenario("two-waiters-one-limited", "O2, O7: all waiters wake; the one with a limit says what is true") {
        exploration in
        let operation = BlockOperation {}
        exploration.run(
            { operation.start() },
            { operation.waitUntilFinished() },
            {
                let isInTime = operation.waitUntilFinished(timeout: .milliseconds(1))
                exploration.check(!isInTime || operation.isFinished, "O7: true before the end")
            })
    },
    Scenario("start-by-two", "B5, A5: of two threads that start an operation by hand, one runs it") { exploration in
        Misuse.handler = { _ in }
        let log = Log()
        let operation = BlockOperation { log.add("main") }
        exploration.run({ operation.start() }, { operation.start() })
        exploration.checkOnce(log, "main", "A5")
        exploration.check(operation.isFinished, "B5: not finished")
    },
    Scenario("block-added-while-starting", "K2, K7: a block added while another thread starts it runs, or is refused") {
        exploration in
        exploration.warmUp()
        let log = Log()
        Misuse.handler = { _ in log.add("refused") }
        let operation = BlockOperation { log.add("first") }
        exploration.run({ operation.start() }, { operation.addExecutionBlock { log.add("added") } })
        exploration.settle()
        exploration.checkOnce(log, "first", "A5")
        exploration.check(log.count("added") + log.count("refused") == 1, "K7: \(log.entries)")
        exploration.check(operation.isFinished, "B5: not finished")
    },
    Scenario("executing-or-finished", "A3: who has seen it finished never sees it executing afterwards") {
        exploration in
        let operation = BlockOperation {}
        exploration.run(
            { operation.start() },
            {
                for _ in 0..<3 {
                    let wasFinished = operation.isFinished
                    exploration.check(!(wasFinished && operation.isExecuting), "A3: both")
                    exploration.check(!(operation.isExecuting && wasFinished), "A1: back from finished")
                }
            })
    },
    Scenario("completion-block-set-late", "I1, I9: a block set before the end runs once, one set after it never") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let operation = BlockOperation {}
        let wasSetInTime = Shared(false)
        exploration.run(
            { operation.start() },
            {
                operation.completionBlock = {
                    log.add("completion")
                    exploration.check(operation.isFinished, "I2: not finished")
                }
                wasSetInTime.value = !operation.isFinished
            })
        exploration.settle()
        exploration.check(log.count("completion") <= 1, "I1: twice")
        exploration.check(log.count("completion") == 1 || !wasSetInTime.value, "I1: never")
    },
    Scenario("completion-block-replaced", "I10: of two blocks set by two threads before the end, one runs, once") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let operation = BlockOperation {}
        operation.completionBlock = { log.add("completion") }
        exploration.run(
            { operation.start() },
            { operation.completionBlock = { log.add("completion") } })
        exploration.settle()
        exploration.checkOnce(log, "completion", "I10")
        exploration.check(operation.completionBlock == nil, "I6: not cleared")
    },
    Scenario("observe-while-finishing", "D18: a new observer is notified of the end, or finds it by `initial`") {
        exploration in
        let operation = BlockOperation {}
        let values = Shared<[Bool]>([])
        let token = Shared<Observation?>(nil)
        exploration.run(
            { operation.start() },
            {
                token.value = operation.observe(\.isFinished, options: [.initial, .new]) { _, change in
                    values.value.append(change.newValue ?? false)
                }
            })
        exploration.check(values.value.last == true, "D18: has heard \(values.value)")
    },
    Scenario("observe-while-cancelling", "D18, D10: a new observer learns of the cancellation and of the readiness") {
        exploration in
        let dependency = BlockOperation {}
        let operation = BlockOperation {}
        operation.addDependency(dependency)
        let cancelled = Shared(false)
        let ready = Shared(false)
        let tokens = Shared<[Observation]>([])
        exploration.run(
            { operation.cancel() },
            {
                tokens.value.append(
                    operation.observe(\.isCancelled, options: [.initial, .new]) { _, change in
                        if change.newValue == true { cancelled.value = true }
                    })
                tokens.value.append(
                    operation.observe(\.isReady, options: [.initial, .new]) { _, change in
                        if change.newValue == true { ready.value = true }
                    })
            })
        exploration.check(cancelled.value, "D18: has not heard of the cancellation")
        exploration.check(ready.value, "D18: has not heard of the readiness")
    },
    Scenario("two-observers-make-the-list", "D18: two observers that come first both hear") { exploration in
        let operation = BlockOperation {}
        let heard = Shared(0)
        let tokens = Shared<[Observation]>([])
        let observe: @Sendable () -> Void = {
            tokens.value.append(operation.observe(\.isFinished) { _, _ in heard.value += 1 })
        }
        exploration.run(observe, observe)
        operation.start()
        exploration.check(heard.value == 2, "D18: \(heard.value) of 2 have heard")
    },
    Scenario("add-to-two-queues", "M6: of two queues one gets the operation, which runs once") { exploration in
        exploration.warmUp()
        let log = Log()
        Misuse.handler = { _ in log.add("misuse") }
        let (first, second) = (OperationQueue(), OperationQueue())
        let operation = BlockOperation { log.add("main") }
        exploration.run({ first.addOperation(operation) }, { second.addOperation(operation) })
        exploration.settle()
        exploration.checkOnce(log, "main", "M6")
        exploration.checkOnce(log, "misuse", "M6")
        exploration.checkEmpty(first, "M6")
        exploration.checkEmpty(second, "M6")
    },
    Scenario("add-and-start-by-hand", "B9, B10: it runs once, whichever is first, and one of the two is misuse") {
        exploration in
        exploration.warmUp()
        let log = Log()
        Misuse.handler = { _ in log.add("misuse") }
        let queue = OperationQueue()
        let operation = BlockOperation { log.add("main") }
        exploration.run({ queue.addOperation(operation) }, { operation.start() })
        exploration.settle()
        exploration.checkOnce(log, "main", "B9")
        exploration.check(operation.isFinished, "B9: not finished")
        exploration.checkEmpty(queue, "B10")
    },
    Scenario("add-and-start-a-cancelled-one", "B7, B10: a cancelled operation ends once, and leaves the queue") {
        exploration in
        exploration.warmUp()
        Misuse.handler = { _ in }
        let queue = OperationQueue()
        let log = Log()
        let operation = BlockOperation { log.add("main") }
        operation.completionBlock = { log.add("completion") }
        operation.cancel()
        exploration.run({ queue.addOperation(operation) }, { operation.start() })
        exploration.settle()
        exploration.check(log.count("main") == 0, "B7: main has run")
        exploration.checkOnce(log, "completion", "I3")
        exploration.check(operation.isFinished, "B7: not finished")
        exploration.checkEmpty(queue, "B10")
    },
]
