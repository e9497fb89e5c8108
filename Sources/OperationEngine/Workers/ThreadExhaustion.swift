import Synchronization

/// Detects that all threads that the engine may have wait for operations, and that only a further thread could run
/// these (contract N13, O5).
///
/// A waiting thread never runs another operation in the meantime. It could run only the operation that the queue would
/// choose next. That is mostly not the awaited one, so it would seldom end the wait. And the operation would run inside
/// the waiting one, with its locks held and its thread-locals set.
///
/// **Why the verdict is certain.** It is made with the locks of all pools held. No worker leaves a wait without its
/// pool's lock. So the waiting workers go on waiting, and what they have in hand stays there. Each of them waits for
/// one of four things:
///
/// - an operation in the hand of one of them,
/// - an operation that has not begun, in a queue that runs on the pools,
/// - such a queue that has something to start,
/// - blocks that they run.
///
/// None of these makes progress without a worker. If a worker waits for anything else, there is no verdict.
enum ThreadExhaustion {
    /// Written with the locks of all pools held, together with the verdict. Otherwise a thread that came to no verdict
    /// a moment ago would overwrite the note of the thread that reports.
    private static let isReported = Atomic<Bool>(false)

    /// Why no wait of a worker can end. Says so once for each exhaustion.
    static func reason() -> String? {
        guard WorkerPool.hasAllThreads || isReported.load(ordering: .relaxed) else { return nil }
        let isNew = WorkerPool.withAllLocked { pools in
            let isComplete = WorkerPool.hasAllThreads && isComplete(pools)
            return !isReported.exchange(isComplete, ordering: .relaxed) && isComplete
        }
        guard isNew else { return nil }
        return """
            all \(Processors.threadLimit) threads that the engine may have wait inside of operations, for others that need \
            a thread too
            """
    }

    private static func isComplete(_ pools: [WorkerPool]) -> Bool {
        var inHand: Set<UnsafeMutableRawPointer> = []
        var queues: [UnsafeMutableRawPointer: QueueCore] = [:]
        for pool in pools {
            for queue in pool.queuesWithLeases { queues[address(of: queue)] = queue }
            for worker in pool.workersUnderLock {
                guard worker.awaited != nil, let runner = worker.waitingRunner?.takeUnretainedValue() else {
                    return false
                }
                if let queue = runner.queue { queues[address(of: queue)] = queue }
                if case .operation(let operation) = runner.hand {
                    inHand.insert(operation.toOpaque())
                }
            }
        }
        return pools.allSatisfy { pool in
            pool.workersUnderLock.allSatisfy { worker in
                switch worker.awaited {
                case nil: false
                case .blocks: true
                case .queue(let queue): queues[queue.toOpaque()]?.needsWorkers ?? false
                case .operation(let operation):
                    inHand.contains(operation.toOpaque()) || isHeldBack(operation, in: queues)
                }
            }
        }
    }

    /// Whether only the thread that runs the operation can end it.
    private static func endsOnItsThread(_ operation: Unmanaged<Operation>) -> Bool {
        operation._withUnsafeGuaranteedRef { !MethodOverride.isFinished.isPresent(in: $0) }
    }

    /// Whether an operation is in one of the queues and has not begun. Its waiter keeps the operation alive, but
    /// nothing keeps its queue alive. So the queue is only compared.
    private static func isHeldBack(
        _ operation: Unmanaged<Operation>, in queues: [UnsafeMutableRawPointer: QueueCore]
    ) -> Bool {
        operation._withUnsafeGuaranteedRef { operation in
            let word = operation.state.load()
            let phases = OperationState.Phase.enqueued.rawValue..<OperationState.Phase.dispatched.rawValue
            guard phases.contains(word.phase.rawValue), endsOnItsThread(.passUnretained(operation)),
                let queue = operation.queue
            else { return false }
            return queues[queue.toOpaque()]?.underlyingQueue == nil && queues[queue.toOpaque()] != nil
        }
    }

    private static func address(of queue: QueueCore) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(queue).toOpaque()
    }
}
