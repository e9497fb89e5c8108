import Interleaving

/// Sleep and wake: no item is forgotten while a worker sleeps; and blocked workers are replaced.
let poolScenarios: [Scenario] = [
    Scenario("two-submit-one-worker", "sleep and wake: both items are taken") { exploration in
        exploration.warmUp()
        let log = Log()
        exploration.run(
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) },
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) })
        exploration.settle()
        exploration.check(log.count("item") == 2, "\(log.count("item")) of 2 items were taken")
    },
    Scenario("two-submit-two-workers", "sleep and wake, with a worker that searches", processors: 2) { exploration in
        exploration.warmUp()
        let log = Log()
        exploration.run(
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) },
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) })
        exploration.settle()
        exploration.check(log.count("item") == 2, "\(log.count("item")) of 2 items were taken")
    },
    Scenario(
        "items-while-one-searches", "a worker that finds several items calls for others before it begins", processors: 2
    ) {
        exploration in
        exploration.warmUp()
        let log = Log()
        let gate = Gate()
        exploration.run(
            // The worker that has run this one searches for more.
            { WorkerPool.of(.normal).submit(.block {}) },
            {
                WorkerPool.of(.normal).submit(
                    .block {
                        gate.wait()
                        log.add("item")
                    })
            },
            {
                WorkerPool.of(.normal).submit(
                    .block {
                        gate.open()
                        log.add("item")
                    })
            })
        exploration.settle()
        exploration.check(log.count("item") == 2, "\(log.count("item")) of 2 items were run")
    },
    Scenario("first-use", "the first items of a process, with no thread there yet", processors: 2) { exploration in
        let log = Log()
        exploration.run(
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) },
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) })
        exploration.settle()
        exploration.check(log.count("item") == 2, "\(log.count("item")) of 2 items were taken")
    },
    Scenario("spare-worker-ends", "N13: an item that comes just as a spare worker's time runs out is taken") {
        exploration in
        // A worker that waits in the engine makes a second one come, which is spare afterwards.
        let gate = BlockOperation {}
        WorkerPool.of(.normal).submit(.block { gate.waitUntilFinished() })
        WorkerPool.of(.normal).submit(.block {})
        exploration.settle()
        gate.start()
        exploration.settle()
        let log = Log()
        exploration.run(
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) },
            { exploration.pause(nanoseconds: 6_000_000_000) })
        exploration.settle()
        exploration.checkOnce(log, "item", "sleep and wake")
    },
    Scenario(
        "follow-up-while-one-is-held", "M3: what an operation adds to its queue begins, though a worker is held",
        processors: 2
    ) { exploration in
        let (log, queue) = exploration.warmUp(limit: 2)
        let done = Gate()
        exploration.run(
            {
                queue.addOperation {
                    // The engine does not see that this operation waits. The first follow-up is released at once, the
                    // second after a hold, and the third finds nobody held.
                    for _ in 0..<3 {
                        let gate = Gate()
                        queue.addOperation { gate.open() }
                        gate.wait()
                    }
                    done.open()
                }
            },
            { WorkerPool.of(.normal).submit(.block { log.add("item") }) },
            // Time passes while it waits.
            { done.wait() })
        exploration.settle()
        exploration.checkOnce(log, "item", "M3")
        exploration.checkEmpty(queue, "M3")
    },
    Scenario("blocks-of-one-operation", "K2, K3: all blocks run, and then the operation is finished", processors: 2) {
        exploration in
        exploration.warmUp()
        let log = Log()
        let operation = BlockOperation { log.add("block") }
        for _ in 0..<2 { operation.addExecutionBlock { log.add("block") } }
        exploration.run({
            operation.start()
            exploration.check(log.count("block") == 3, "K3: finished after \(log.count("block")) of 3 blocks")
        })
        exploration.settle()
        exploration.check(operation.isFinished, "K3: not finished")
    },
    Scenario("operation-waits-for-another", "O6: the only worker waits for an operation of another queue") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let (first, second) = (OperationQueue(), OperationQueue())
        let awaited = BlockOperation { log.add("awaited") }
        exploration.run(
            {
                first.addOperation {
                    awaited.waitUntilFinished()
                    log.add("waiting")
                }
            },
            { second.addOperation(awaited) })
        exploration.settle()
        exploration.check(log.entries == ["awaited", "waiting"], "O6: \(log.entries)")
        exploration.checkEmpty(first, "O6")
        exploration.checkEmpty(second, "O6")
    },
    Scenario("both-workers-wait", "O6: nor do two of two workers that wait starve the pool", processors: 2) {
        exploration in
        exploration.warmUp()
        let log = Log()
        let (first, second) = (OperationQueue(), OperationQueue())
        let awaited = BlockOperation { log.add("awaited") }
        let wait: @Sendable () -> Void = {
            first.addOperation {
                awaited.waitUntilFinished()
                log.add("waiting")
            }
        }
        exploration.run(wait, wait, { second.addOperation(awaited) })
        exploration.settle()
        exploration.check(log.count("waiting") == 2, "O6: \(log.entries)")
        exploration.checkEmpty(first, "O6")
        exploration.checkEmpty(second, "O6")
    },
    Scenario("blocked-elsewhere", "N13: a worker that is asleep in somebody else's wait is replaced by the monitor") {
        exploration in
        exploration.warmUp()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let gate = Gate()
        let (first, second) = (BlockOperation { gate.wait() }, BlockOperation { gate.open() })
        exploration.run(
            {
                queue.addOperation(first)
                first.waitUntilFinished()
            },
            { queue.addOperation(second) })
        exploration.settle()
        exploration.checkEmpty(queue, "N13")
    },
    Scenario("item-as-monitor-falls-asleep", "N13: an item that comes at the monitor's last look is looked after") {
        exploration in
        exploration.warmUp()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let gate = Gate()
        queue.addOperation { gate.wait() }
        queue.addOperation {}
        exploration.settle()
        exploration.pause(nanoseconds: 1_000_000)
        let last = BlockOperation { gate.open() }
        exploration.run(
            {
                exploration.pause(nanoseconds: 20_000_000)
            },
            {
                exploration.pause(nanoseconds: 4_000_000)
                queue.addOperation(last)
                last.waitUntilFinished()
            })
        exploration.settle()
        exploration.checkEmpty(queue, "N13")
    },
]
