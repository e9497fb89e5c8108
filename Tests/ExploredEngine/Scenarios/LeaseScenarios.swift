import Interleaving

/// The hand-over of leases: nothing that may start is forgotten, and no more than the limit runs.
let leaseScenarios: [Scenario] = [
    Scenario("two-producers-limit-1", "N2, N3: both run, one at a time", processors: 2) { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        let work: @Sendable () -> Void = {
            log.enter()
            exploration.point()
            log.add("main")
            log.leave()
        }
        exploration.run({ queue.addOperation(work) }, { queue.addOperation(work) })
        exploration.settle()
        exploration.check(log.count("main") == 2, "N3: \(log.count("main")) of 2 have run")
        exploration.check(log.mostInside == 1, "N2: \(log.mostInside) at once")
        exploration.checkEmpty(queue, "N3")
    },
    Scenario("urgent-goes-first", "G4: what is urgent passes what is ready", processors: 2) { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        queue.isSuspended = true
        for _ in 0..<3 { queue.addOperation(BlockOperation { log.add("normal") }) }
        let urgent = BlockOperation { log.add("urgent") }
        urgent.queuePriority = .high
        exploration.run(
            { queue.isSuspended = false },
            {
                queue.addOperation(urgent)
                log.add("added")
            })
        exploration.settle()
        let before = log.entries.prefix { $0 != "urgent" }
        // One may have been chosen when the urgent one was added.
        let behind = before.drop { $0 != "added" }.count { $0 == "normal" }
        exploration.check(behind <= 1, "G4: \(behind) of normal priority have passed an urgent one")
        exploration.check(log.entries.count == 5, "N3: \(log.entries)")
        exploration.checkEmpty(queue, "N3")
    },
    Scenario("count-observed-between-two", "D18: who observes the count hears of one end before the next begins") {
        exploration in
        let (_, queue) = exploration.warmUp(limit: 1)
        queue.isSuspended = true
        let (heard, token) = (Shared<[Int]>([]), Shared<Observation?>(nil))
        let checkIt: @Sendable () -> Void = {
            exploration.check(!heard.value.contains(2) || heard.value.contains(1), "D18: \(heard.value)")
        }
        queue.addOperation {}
        queue.addOperation(checkIt)
        exploration.run(
            { queue.isSuspended = false },
            {
                token.value = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
                    heard.value.append(change.newValue ?? -1)
                }
            })
        exploration.settle()
        exploration.checkEmpty(queue, "D18")
        token.value = nil
    },
    Scenario("count-observed-while-it-falls", "D18: an observer of the count hears of the empty queue") {
        exploration in
        let (_, queue) = exploration.warmUp(limit: 1)
        queue.isSuspended = true
        for _ in 0..<2 { queue.addOperation(BlockOperation {}) }
        let (heard, token) = (Shared<[Int]>([]), Shared<Observation?>(nil))
        exploration.run(
            { queue.isSuspended = false },
            {
                token.value = queue.observe(\.operationCount, options: [.initial, .new]) { _, change in
                    heard.value.append(change.newValue ?? -1)
                }
            })
        exploration.settle()
        // The threads that tell it do so in no order among them.
        exploration.check(heard.value.contains(0), "D18: \(heard.value)")
        exploration.checkEmpty(queue, "D18")
    },
    Scenario("raised-as-it-is-added", "G10: one whose priority rises while it is added passes what is ready") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        let gate = Gate()
        queue.isSuspended = true
        queue.addOperation(
            BlockOperation {
                gate.wait()
                log.add("first")
            })
        for _ in 0..<2 { queue.addOperation(BlockOperation { log.add("normal") }) }
        queue.isSuspended = false
        exploration.settle()
        let raised = BlockOperation { log.add("raised") }
        exploration.run({ queue.addOperation(raised) }, { raised.queuePriority = .high })
        gate.open()
        exploration.settle()
        exploration.check(log.entries == ["first", "raised", "normal", "normal"], "G10: \(log.entries)")
        exploration.checkEmpty(queue, "N3")
    },
    Scenario("three-producers-limit-2", "N2: all run, two at a time", processors: 2) { exploration in
        let (log, queue) = exploration.warmUp(limit: 2)
        let add: @Sendable () -> Void = {
            queue.addOperation {
                log.enter()
                exploration.point()
                log.add("main")
                log.leave()
            }
        }
        exploration.run(add, add, add)
        exploration.settle()
        exploration.check(log.count("main") == 3, "N2: \(log.count("main")) of 3 have run")
        exploration.check(log.mostInside <= 2, "N2: \(log.mostInside) at once")
        exploration.checkEmpty(queue, "N2")
    },
    Scenario("add-while-limit-opens", "N4: raising the limit and adding at once: one of the two sees the other") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 0)
        exploration.run(
            { queue.addOperation { log.add("main") } }, { queue.maxConcurrentOperationCount = 1 })
        exploration.settle()
        exploration.checkOnce(log, "main", "N4")
        exploration.checkEmpty(queue, "N4")
    },
    Scenario("add-while-resumed", "N10: the same for the suspension, with a toggle more") { exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        queue.isSuspended = true
        exploration.run(
            { queue.addOperation { log.add("main") } },
            {
                queue.isSuspended = false
                queue.isSuspended = true
                queue.isSuspended = false
            })
        exploration.settle()
        exploration.checkOnce(log, "main", "N10")
        exploration.checkEmpty(queue, "N10")
    },
    Scenario("suspended-starts-nothing", "N9, N12: once the setter has returned, one more may start, no other") {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        exploration.run(
            { for _ in 0..<3 { queue.addOperation { log.add("main") } } },
            {
                queue.isSuspended = true
                let before = log.count("main")
                exploration.settle()
                exploration.check(log.count("main") <= before + 1, "N12: \(log.count("main") - before) more")
                queue.isSuspended = false
            })
        exploration.settle()
        exploration.check(log.count("main") == 3, "N10: \(log.count("main")) of 3 have run")
        exploration.checkEmpty(queue, "N10")
    },
    Scenario("add-while-slot-frees", "N3: an operation added while the last one ends is not forgotten", processors: 2) {
        exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        let gate = Gate()
        queue.addOperation {
            gate.wait()
            log.add("main")
        }
        exploration.settle()
        exploration.run(
            { gate.open() },
            { queue.addOperation { log.add("main") } },
            { queue.addOperation { log.add("main") } })
        exploration.settle()
        exploration.check(log.count("main") == 3, "N3: \(log.count("main")) of 3 have run")
        exploration.checkEmpty(queue, "N3")
    },
    Scenario("bulk-and-single", "M1, M3: a batch and a single operation at once") { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        exploration.run(
            {
                queue.addOperations(
                    (0..<2).map { _ in BlockOperation { log.add("main") } }, waitUntilFinished: false)
            },
            { queue.addOperation { log.add("main") } })
        exploration.settle()
        exploration.check(log.count("main") == 3, "M3: \(log.count("main")) of 3 have run")
        exploration.checkEmpty(queue, "M3")
    },
    Scenario("two-bands-limit-1", "N2, H6: operations of two bands take turns at the only slot") { exploration in
        let (log, queue) = exploration.warmUp(limit: 1)
        func make(_ priority: Double) -> Operation {
            let operation = BlockOperation {
                log.enter()
                exploration.point()
                log.add("main")
                log.leave()
            }
            operation.threadPriority = priority
            return operation
        }
        let operations = [make(0), make(0.5), make(0)]
        exploration.run(
            { queue.addOperation(operations[0]) },
            {
                queue.addOperation(operations[1])
                queue.addOperation(operations[2])
            })
        exploration.settle()
        exploration.check(log.count("main") == 3, "N3: \(log.count("main")) of 3 have run")
        exploration.check(log.mostInside == 1, "N2: \(log.mostInside) at once")
        exploration.checkEmpty(queue, "N3")
    },
    Scenario("two-queues-one-worker", "G7, M14: the only worker serves both queues") { exploration in
        exploration.warmUp()
        let log = Log()
        let (first, second) = (OperationQueue(), OperationQueue())
        exploration.run(
            { for _ in 0..<2 { first.addOperation { log.add("first") } } },
            { second.addOperation { log.add("second") } })
        exploration.settle()
        exploration.check(log.entries.count == 3, "M14: \(log.entries)")
        exploration.checkEmpty(first, "M14")
        exploration.checkEmpty(second, "M14")
    },
    Scenario("queue-dropped", "Q3: a queue that its user drops runs its operations and goes") { exploration in
        exploration.warmUp()
        let log = Log()
        let queue = Shared<OperationQueue?>(OperationQueue())
        weak let core = queue.value?.core
        exploration.run(
            {
                queue.value?.addOperation { log.add("main") }
                exploration.point()
                queue.value = nil
            })
        exploration.settle()
        exploration.checkOnce(log, "main", "Q3")
        exploration.check(core == nil, "Q3: the queue is still there")
    },
    Scenario("drain", "O3, O4: who waits for a queue returns when it is empty, and then it was") { exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        exploration.run(
            {
                queue.addOperation { log.add("main") }
                queue.waitUntilAllOperationsAreFinished()
                exploration.checkOnce(log, "main", "O3")
            },
            { queue.waitUntilAllOperationsAreFinished() })
        exploration.settle()
        exploration.checkEmpty(queue, "O3")
    },
    Scenario("drain-again-and-again", "O3: the echo of an earlier draining ends no later wait") { exploration in
        exploration.warmUp()
        let queue = OperationQueue()
        let log = Log()
        exploration.run(
            {
                for round in 1...2 {
                    queue.addOperation { log.add("main") }
                    queue.waitUntilAllOperationsAreFinished()
                    exploration.check(log.count("main") == round, "O3: returned too early")
                }
            })
        exploration.settle()
        exploration.checkEmpty(queue, "O3")
    },
    Scenario("drain-limited", "O7: a limited wait says what is true") { exploration in
        exploration.warmUp()
        let queue = OperationQueue()
        exploration.run(
            {
                let operation = BlockOperation {}
                queue.addOperation(operation)
                let isInTime = queue.waitUntilFinished(timeout: .milliseconds(1))
                exploration.check(!isInTime || operation.isFinished, "O7: true before the end")
            })
        exploration.settle()
        exploration.checkEmpty(queue, "O7")
    },
]
