import Interleaving

/// Barriers: what is before one has ended when it runs, what is behind it has not begun.
let barrierScenarios: [Scenario] = [
    Scenario("barrier-between-operations", "P7: alone, after all before it and before all behind it", processors: 2) {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        func work(_ name: String) -> @Sendable () -> Void {
            {
                log.enter()
                exploration.point()
                log.add(name)
                log.leave()
            }
        }
        let (first, behind, other) = (work("first"), work("behind"), work("other"))
        exploration.run(
            {
                queue.addOperation(first)
                queue.addBarrierBlock {
                    exploration.check(log.inside == 0, "P7: not alone")
                    exploration.checkOnce(log, "first", "P7")
                    exploration.check(log.count("behind") == 0, "P7: one behind it has begun")
                    log.add("barrier")
                }
                queue.addOperation(behind)
            },
            { queue.addOperation(other) })
        exploration.settle()
        for name in ["first", "barrier", "behind", "other"] { exploration.checkOnce(log, name, "P7") }
        exploration.checkEmpty(queue, "P7")
    },
    Scenario("barrier-as-the-last-one-ends", "P7: a barrier that comes just as the queue runs dry runs and opens") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let gate = Gate()
        queue.addOperation { gate.wait() }
        exploration.settle()
        exploration.run(
            { gate.open() },
            { queue.addBarrierBlock { log.add("barrier") } },
            { queue.addOperation { log.add("operation") } })
        exploration.settle()
        exploration.checkOnce(log, "barrier", "P7")
        exploration.checkOnce(log, "operation", "P7")
        exploration.checkEmpty(queue, "P7")
    },
    Scenario("barrier-cancelled", "P11, P8: a cancelled barrier releases the items behind it") { exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.addOperation { log.add("first") }
        queue.addBarrierBlock { log.add("barrier") }
        exploration.run(
            { queue.isSuspended = false }, { queue.cancelAllOperations() }, { queue.addOperation { log.add("behind") } }
        )
        exploration.settle()
        exploration.check(log.count("barrier") <= 1, "P11: twice")
        exploration.checkEmpty(queue, "P11")
    },
    Scenario("barrier-and-dependency", "P7, E1: one before the barrier that waits for another queue holds it back") {
        exploration in
        exploration.warmUp()
        let log = Log()
        let queue = OperationQueue()
        let dependency = BlockOperation {}
        let operation = BlockOperation { log.add("operation") }
        operation.addDependency(dependency)
        queue.addOperation(operation)
        exploration.run(
            { dependency.start() },
            {
                queue.addBarrierBlock {
                    exploration.checkOnce(log, "operation", "P7")
                    log.add("barrier")
                }
                queue.addOperation { log.add("behind") }
            })
        exploration.settle()
        for name in ["barrier", "behind"] { exploration.checkOnce(log, name, "P7") }
        exploration.checkEmpty(queue, "P7")
    },
]
