import OperationEngine

/// A use of operations, repeated `count` times: the cost of `count` more divided by `count` is the cost of one.
///
/// Deterministic as far as threads allow: if the adding thread and the workers ran side by side, the work that a worker
/// finds would depend on the machine. So nearly all add to a suspended queue and then resume it, at limit 1. In a few
/// that cannot, a lease lies in the pool meanwhile, and the monitor of blocked workers looks every millisecond, as many
/// times as the machine takes long; under callgrind, where one thread runs at a time, it takes the others for blocked.
/// Those vary.
struct Scenario: Sendable {
    let name: String
    let summary: String
    let varies: Bool
    let play: @Sendable (Play) -> Void

    static let all = independent + dependent + controlled + traced

    private static let independent = [
        Scenario("closure-limit-1", "addOperation { } at limit 1") { play in
            play.onQueue { queue, tally in
                for _ in 0..<play.count { queue.addOperation { tally.count() } }
            }
        },
        Scenario("closure", "addOperation { } at the default limit", varies: true) { play in
            play.onQueue(limit: OperationQueue.defaultMaxConcurrentOperationCount) { queue, tally in
                for _ in 0..<play.count { queue.addOperation { tally.count() } }
            }
        },
        Scenario("closure-live", "addOperation { } while the queue runs") { play in
            play.onQueue(isSuspended: false) { queue, tally in
                for _ in 0..<play.count { queue.addOperation { tally.count() } }
            }
        },
        Scenario("block", "a BlockOperation, added") { play in
            play.onQueue { queue, tally in
                for _ in 0..<play.count { queue.addOperation(BlockOperation { tally.count() }) }
            }
        },
        Scenario("subclass", "an operation that overrides main, added") { play in
            play.onQueue { queue, tally in
                for _ in 0..<play.count { queue.addOperation(Counting(tally)) }
            }
        },
        Scenario("bulk", "BlockOperations, added together") { play in
            play.onQueue { queue, tally in
                queue.addOperations(play.blocks(tally), waitUntilFinished: false)
            }
        },
        Scenario("completion-block", "a BlockOperation with a completion block", varies: true) { play in
            let completions = Tally(expecting: play.count)
            play.onQueue { queue, tally in
                for _ in 0..<play.count {
                    let operation = BlockOperation { tally.count() }
                    operation.completionBlock = { completions.count() }
                    queue.addOperation(operation)
                }
            }
            completions.wait()
        },
        Scenario("observer", "a BlockOperation with an observer of isFinished") { play in
            let notices = Tally(expecting: play.count)
            var observations: [Observation] = []
            observations.reserveCapacity(play.count)
            play.onQueue { queue, tally in
                for _ in 0..<play.count {
                    let operation = BlockOperation { tally.count() }
                    observations.append(operation.observe(\.isFinished) { _, _ in notices.count() })
                    queue.addOperation(operation)
                }
            }
            notices.wait()
        },
        Scenario("manual-start", "a BlockOperation, started by hand") { play in
            let tally = Tally(expecting: play.count)
            for _ in 0..<play.count { BlockOperation { tally.count() }.start() }
            tally.check()
        },
    ]

    private static let dependent = [
        Scenario("chain", "a BlockOperation that depends on the one before it, added last one first") { play in
            play.onQueue { queue, tally in
                let operations = play.blocks(tally)
                for index in operations.indices.dropFirst() {
                    operations[index].addDependency(operations[index - 1])
                }
                for operation in operations.reversed() { queue.addOperation(operation) }
            }
        },
        Scenario("fan-out", "a BlockOperation that depends on one which all depend on") { play in
            play.onQueue { queue, tally in
                let operations = play.blocks(tally)
                for index in operations.indices.dropFirst() { operations[index].addDependency(operations[0]) }
                for operation in operations { queue.addOperation(operation) }
            }
        },
        Scenario("join", "a BlockOperation that one depends on which depends on all") { play in
            play.onQueue { queue, tally in
                let operations = play.blocks(tally)
                for index in operations.indices.dropLast() { operations.last!.addDependency(operations[index]) }
                for operation in operations { queue.addOperation(operation) }
            }
        },
        Scenario("graph", "a BlockOperation that depends on the four before it") { play in
            play.onQueue { queue, tally in
                let operations = play.blocks(tally)
                for index in operations.indices {
                    for earlier in max(0, index - 4)..<index { operations[index].addDependency(operations[earlier]) }
                }
                for operation in operations { queue.addOperation(operation) }
            }
        },
        Scenario("graph-at-once", "the same, with all dependencies added in one step") { play in
            play.onQueue { queue, tally in
                let operations = play.blocks(tally)
                var pairs: [(of: Int, on: Int)] = []
                pairs.reserveCapacity(4 * operations.count)
                for index in operations.indices {
                    for earlier in max(0, index - 4)..<index { pairs.append((of: index, on: earlier)) }
                }
                Operation.addDependencies(pairs, among: operations)
                for operation in operations { queue.addOperation(operation) }
            }
        },
    ]

    private static let controlled = [
        Scenario("priorities", "a BlockOperation of one of five priorities in turn") { play in
            let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
            play.onQueue { queue, tally in
                for index in 0..<play.count {
                    let operation = BlockOperation { tally.count() }
                    operation.queuePriority = levels[index % levels.count]
                    queue.addOperation(operation)
                }
            }
        },
        Scenario("suspend-resume", "addOperation { }, suspended and resumed after each hundred", varies: true) { play in
            play.onQueue { queue, tally in
                for index in 0..<play.count {
                    queue.addOperation { tally.count() }
                    guard index % 100 == 99 else { continue }
                    queue.isSuspended = false
                    queue.waitUntilAllOperationsAreFinished()
                    queue.isSuspended = true
                }
            }
        },
        Scenario("cancel-all", "addOperation { }, all cancelled by one call, and released", varies: true) { play in
            let (queue, tally) = (play.makeQueue(), Tally(expecting: 0))
            for _ in 0..<play.count { queue.addOperation { tally.count() } }
            queue.cancelAllOperations()
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            tally.check()
        },
        Scenario("cancel-all-blocks", "the same of BlockOperations") { play in
            let (queue, tally) = (play.makeQueue(), Tally(expecting: 0))
            for _ in 0..<play.count { queue.addOperation(BlockOperation { tally.count() }) }
            queue.cancelAllOperations()
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            tally.check()
        },
        Scenario("barrier", "a barrier, after nine of addOperation { } each") { play in
            play.onQueue { queue, tally in
                for index in 0..<play.count {
                    if index % 10 == 9 {
                        queue.addBarrierBlock { tally.count() }
                    } else {
                        queue.addOperation { tally.count() }
                    }
                }
            }
        },
    ]

    private static let traced = [
        Scenario("traced-closure", "addOperation { }, traced by a receiver that does nothing") { play in
            Silent.whileInstalled {
                play.onQueue { queue, tally in
                    for _ in 0..<play.count { queue.addOperation { tally.count() } }
                }
            }
        },
        Scenario("traced-block", "a BlockOperation, traced by a receiver that does nothing") { play in
            Silent.whileInstalled {
                play.onQueue { queue, tally in
                    for _ in 0..<play.count { queue.addOperation(BlockOperation { tally.count() }) }
                }
            }
        },
    ]

    /// Receives the events of operations and of threads.
    private final class Silent: OperationTrace.Receiver {
        private static let shared = Silent()

        func receive(_ event: OperationTrace.OperationEvent) {}
        func receive(_ event: OperationTrace.ThreadEvent) {}

        static func whileInstalled(_ body: () -> Void) {
            OperationTrace.install(shared)
            body()
            OperationTrace.remove(shared)
        }
    }

    private init(
        _ name: String, _ summary: String, varies: Bool = false, _ play: @escaping @Sendable (Play) -> Void
    ) {
        (self.name, self.summary, self.varies, self.play) = (name, summary, varies, play)
    }
}
