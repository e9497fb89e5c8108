import CDispatch
import CLinuxMeasure
import OpBenchModel

/// Operations as C functions with a context each, for which Dispatch allocates no closure.
///
/// Otherwise as the closures of `dispatch`: a body submits what follows it in a chain or graph, and the next batch if
/// it is the last of its own.
final class DispatchFunctions: RoundBackend, @unchecked Sendable {
    /// The argument of an operation's function.
    private struct Context {
        let round: Unretained<DispatchFunctions>
        let queue: dispatch_queue_t
        let operation: Int
    }

    private let plan: WorkloadPlan
    private let body: OperationBody
    private let batches: CountedBatches?
    private let successors: Successors?
    private let contexts: UnsafeMutablePointer<Context>
    /// Serial queues, of a limit or of the chains; none: the global queue.
    private let serialQueues: [dispatch_queue_t]
    /// Counts the operations that nothing waits for, and completion functions.
    private let running = EndCounter()

    init(_ plan: WorkloadPlan, _ body: OperationBody) {
        self.plan = plan
        self.body = body
        batches = CountedBatches(plan)
        successors = plan.chains != nil || plan.graph != nil ? Successors(plan) : nil
        contexts = .allocate(capacity: plan.operationCount)
        let (queueCount, chainCount) = (plan.chains?.queues ?? 1, plan.chains?.count ?? 0)
        let serialCount = plan.limit == nil ? (queueCount == 1 ? chainCount : 0) : queueCount
        serialQueues = (0..<serialCount).map { _ in dispatch_queue_create("opbench.serial", nil) }
    }

    deinit {
        contexts.deallocate()
        running.deallocate()
        batches?.deallocate()
        successors?.deallocate()
    }

    static func support(_ plan: WorkloadPlan) -> Support {
        plan.limit ?? 1 > 1
            ? .unsupported(reason: "functions run on the global queue or on serial ones") : .full()
    }

    // MARK: Phases

    func build() {
        let global = dispatch_get_global_queue(0, 0)
        let isAcrossQueues = plan.chains?.queues ?? 1 > 1
        for operation in 0..<plan.operationCount {
            let place = isAcrossQueues ? plan.queueIndex(of: operation) : operation
            let queue = serialQueues.isEmpty ? global : serialQueues[place % serialQueues.count]
            (contexts + operation).initialize(
                to: Context(round: Unretained(self), queue: queue, operation: operation))
        }
    }

    func submit(_ part: Range<Int>) {
        if let batches {
            batches.submitNext(part.lowerBound) { submit($0) }
        } else if let successors {
            running.begin(successors.endCount)
            for head in successors.heads { submit(head) }
        } else {
            running.begin(part.count)
            if plan.submission == .bulk {
                body.submitTogether(part, in: plan) {
                    for operation in part { async(operation) }
                }
            } else {
                for operation in part { submit(operation) }
            }
        }
    }

    func drain() {
        batches?.wait()
        running.wait()
    }

    func teardown() {
        for queue in serialQueues { clinux_dispatch_release(UnsafeMutableRawPointer(queue)) }
    }

    // MARK: Operations

    @inline(__always)
    private func submit(_ operation: Int) {
        guard body.takesStamps else { return async(operation) }
        // The operation may end before this call has returned; `drain` must not.
        running.begin(1)
        body.willSubmit(operation)
        async(operation)
        body.didSubmit(operation)
        running.end()
    }

    @inline(__always)
    private func async(_ operation: Int) {
        let context = contexts + operation
        let run: dispatch_function_t = { context in
            let context = context!.assumingMemoryBound(to: Context.self)
            context.pointee.round { $0.run(context.pointee.operation) }
        }
        guard body.wantsNotification(operation), plan.hasCompletionBlocks, batches == nil else {
            return dispatch_async_f(context.pointee.queue, context, run)
        }
        running.begin(1)
        let own = dispatch_group_create()
        dispatch_group_async_f(own, context.pointee.queue, context, run)
        dispatch_group_notify_f(own, context.pointee.queue, context) { context in
            let context = context!.assumingMemoryBound(to: Context.self)
            context.pointee.round {
                $0.body.didNotify(context.pointee.operation)
                $0.running.end()
            }
        }
        clinux_dispatch_release(UnsafeMutableRawPointer(own))
    }

    private func run(_ operation: Int) {
        body.run(operation)
        if let successors {
            if successors.release(after: operation, by: { submit($0) }) { running.end() }
        } else if let batches {
            if batches.didEnd(operation, body) { batches.submitNext(operation) { submit($0) } }
        } else {
            running.end()
        }
    }
}
