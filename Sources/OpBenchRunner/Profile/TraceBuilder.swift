import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel
import OpBenchProfile
import OperationEngine

/// Makes a trace from the time stamps of one round, or from the phases of one round of a sequence.
final class TraceBuilder {
    static let fileName = "trace.opbench"

    private let plan: WorkloadPlan
    private let backend: BackendID
    private var trace: SampleTrace
    /// The start of the first part, on the clock of the stamps.
    private var origin: Int64?
    /// Threads that executed operations, by their index in the register.
    private var hasWorked: Set<Int> = []
    /// The backend threads' events besides operations, during the trace.
    var threadEvents: [ThreadEvent] = []
    /// The threads' waits for a processor between operations; nil if the kernel does not count them.
    var waits: [RunQueue.Wait]?

    init(_ plan: WorkloadPlan, backend: BackendID) {
        self.plan = plan
        self.backend = backend
        let workers =
            switch backend {
            case .serial: 1
            case .engine: Processors.workers
            default: max(1, Int(clinux_allowed_processors()))
            }
        trace = SampleTrace(workerCount: workers)
        trace.processID = getpid()
    }

    /// Adds a round whose body still has its stamps.
    ///
    /// - Parameter phase: the name of its phase; empty if there are no phases.
    func add(_ round: Round, _ body: OperationBody, of plan: WorkloadPlan, phase: String) {
        let origin = origin ?? round.begun
        self.origin = origin
        let firstOperation = UInt32(trace.operations.count)
        let firstQueue = UInt16(trace.queues.count)
        let firstClass = trace.classes.count
        for (queue, limit) in plan.queueLimits.enumerated() {
            let name = "queue \(queue + 1)"
            trace.queues.append(SampleTrace.Queue(name: phase.isEmpty ? name : "\(name), \(phase)", limit: limit))
        }
        let names = plan.classes.map { classes in classes.keys.indices.map(classes.name) } ?? ["operation"]
        trace.classes += names.map { phase.isEmpty ? $0 : "\(phase): \($0)" }
        addOperations(body, plan, origin, firstQueue, firstClass)
        plan.forEachDependency { operation, predecessor in
            trace.dependencies.append(
                TracedDependency(firstOperation + UInt32(predecessor), before: firstOperation + UInt32(operation)))
        }
        addSpans(round, plan, origin, firstQueue)
        addBarriers(plan, firstOperation)
        trace.stop = round.drained - origin
    }

    private func addOperations(
        _ body: OperationBody, _ plan: WorkloadPlan, _ origin: Int64, _ firstQueue: UInt16, _ firstClass: Int
    ) {
        let hasPriorities = plan.classes?.label == "priority"
        trace.operations.reserveCapacity(trace.operations.count + plan.operationCount)
        for operation in 0..<plan.operationCount {
            func time(_ stamp: OperationBody.Stamp) -> TraceTime {
                let value = body.read(stamp, operation)
                return value > 0 ? value - origin : .absent
            }
            func thread(_ stamp: OperationBody.Stamp) -> UInt16 {
                UInt16(exactly: body.read(stamp, operation) - 1) ?? TracedOperation.unknown
            }
            let submit = time(.submit)
            guard submit != .absent else {
                trace.operations.append(Self.unseen(queue: firstQueue))
                continue
            }
            let worker = thread(.worker)
            if worker != TracedOperation.unknown { hasWorked.insert(Int(worker)) }
            trace.operations.append(
                TracedOperation(
                    submit: submit, ready: body.ready(operation, since: .submit) - origin, start: time(.start),
                    end: time(.end),
                    notified: time(.notified), offProcessor: body.read(.offProcessor, operation),
                    processorWait: RunQueue.isCounted ? body.read(.processorWait, operation) : .absent,
                    planned: plan.plannedNanoseconds(of: operation).map(Int64.init) ?? .absent,
                    worker: worker, submitter: thread(.submitter),
                    queue: firstQueue + UInt16(plan.queueIndex(of: operation)),
                    operationClass: UInt8(clamping: firstClass + Int(plan.classes?.ofOperation[operation] ?? 0)),
                    priority: hasPriorities ? Int8(clamping: Int(plan.classValue(of: operation))) : 0))
        }
    }

    /// An operation without a submission stamp: it keeps its number, and takes no time.
    private static func unseen(queue: UInt16) -> TracedOperation {
        TracedOperation(submit: 0, ready: .absent, start: .absent, end: .absent, queue: queue)
    }

    private func addSpans(_ round: Round, _ plan: WorkloadPlan, _ origin: Int64, _ firstQueue: UInt16) {
        if plan.startsSuspended {
            for queue in firstQueue..<UInt16(trace.queues.count) {
                trace.spans.append(
                    TracedSpan(
                        kind: .suspension, queue: queue, start: round.begun - origin, end: round.cancelled - origin))
            }
        }
        for hold in round.holds {
            trace.spans.append(
                TracedSpan(
                    kind: .suspension, queue: firstQueue, start: hold.suspendReturned - origin,
                    end: hold.resumeCalled - origin))
        }
    }

    private func addBarriers(_ plan: WorkloadPlan, _ firstOperation: UInt32) {
        guard let barriers = plan.barriers else { return }
        for number in 0..<plan.operationCount where barriers.isBarrier(number) {
            let operation = trace.operations[Int(firstOperation) + number]
            guard operation.end != .absent else { continue }
            trace.spans.append(
                TracedSpan(
                    kind: .barrier, queue: operation.queue, start: operation.submit, end: operation.end,
                    operation: firstOperation + UInt32(number)))
        }
    }

    /// Finishes the trace and checks its consistency.
    ///
    /// - Throws: `TraceError` if it is inconsistent.
    func finish() throws(TraceError) -> SampleTrace {
        var trace = trace
        trace.title = "\(plan.shape.rawValue) on \(backend.rawValue)"
        var ids: Set<Int32> = []
        trace.threads = ThreadRegister.all().enumerated().map { number, entry in
            // The system may reuse an ended thread's id.
            var id = entry.id
            while !ids.insert(id).inserted { id = -Int32(number) - 1 }
            return SampleTrace.Thread(
                name: entry.name, role: hasWorked.contains(number) ? .worker : .submitter, id: id)
        }
        addThreadEvents(to: &trace)
        _ = trace.mendOrder()
        try trace.check()
        return trace
    }

    private func addThreadEvents(to trace: inout SampleTrace) {
        guard let origin else { return }
        var places = Dictionary(trace.threads.enumerated().map { ($1.id, UInt16($0)) }) { $1 }
        // Other threads wake workers, too: those that suspend and resume, and the engine's own. A woken thread is a
        // worker, even if it did nothing else.
        let workers = Set(
            threadEvents.compactMap { $0.kind == .wake ? $0.other : $0.thread } + (waits ?? []).map(\.thread))
        func place(of thread: Int32) -> UInt16 {
            if let place = places[thread] { return place }
            let place = UInt16(trace.threads.count)
            // Threads that neither submitted nor executed anything.
            let name = SystemFile.line("/proc/self/task/\(thread)/comm") ?? "thread \(thread)"
            trace.threads.append(
                SampleTrace.Thread(name: name, role: workers.contains(thread) ? .worker : .submitter, id: thread))
            places[thread] = place
            return place
        }
        // Drops events outside the rounds, but keeps which threads were asleep when the sample began.
        let beginsAsleep = Dictionary(
            threadEvents.filter { $0.time < origin && [.park, .unpark].contains($0.kind) }.sorted { $0.time < $1.time }
                .map { ($0.thread, $0) }
        ) { $1 }.values.filter { $0.kind == .park }
        let within = threadEvents.filter { (origin...origin + trace.stop).contains($0.time) }
        for event in beginsAsleep + within {
            var other = event.other.map(place) ?? TracedOperation.unknown
            switch event.kind {
            case .leaseTaken, .leaseGivenUp:
                // With several queues, the lease's queue is unknown here.
                guard trace.queues.count == 1 else { continue }
                other = 0
            case .wake: if other == TracedOperation.unknown { continue }
            case .begin, .end, .park, .unpark, .growth, .shrinkage: break
            }
            trace.threadEvents.append(
                TracedThreadEvent(
                    time: event.time - origin, thread: place(of: event.thread), kind: event.kind,
                    other: other))
        }
        trace.waits = waits?.filter { $0.begin < origin + trace.stop && origin < $0.end }.map {
            TracedWait(start: $0.begin - origin, end: $0.end - origin, thread: place(of: $0.thread))
        }
    }
}
