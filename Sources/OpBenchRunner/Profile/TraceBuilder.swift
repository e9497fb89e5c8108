import CLinux
import Glibc
import OpBenchBackends
import OpBenchModel
import OpBenchProfile
import OperationEngine

/// Makes a trace from the time stamps of one round.
final class TraceBuilder {
    static let fileName = "trace.opbench"

    private let plan: WorkloadPlan
    private let backend: BackendID
    private var trace: SampleTrace
    /// The start of the round, on the clock of the stamps.
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

    /// Adds the round, whose body still has its stamps.
    func add(_ round: Round, _ body: OperationBody) {
        let origin = round.begun
        self.origin = origin
        trace.queues = plan.queueLimits.enumerated().map { queue, limit in
            SampleTrace.Queue(name: "queue \(queue + 1)", limit: limit)
        }
        trace.classes = plan.classes.map { classes in classes.keys.indices.map(classes.name) } ?? ["operation"]
        addOperations(body, origin)
        plan.forEachDependency { operation, predecessor in
            trace.dependencies.append(TracedDependency(UInt32(predecessor), before: UInt32(operation)))
        }
        addSpans(round, origin)
        addBarriers()
        trace.stop = round.drained - origin
    }

    private func addOperations(_ body: OperationBody, _ origin: Int64) {
        let hasPriorities = plan.classes?.label == "priority"
        trace.operations.reserveCapacity(plan.operationCount)
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
                // Without a submission stamp it keeps its number, and takes no time.
                trace.operations.append(
                    TracedOperation(submit: 0, ready: .absent, start: .absent, end: .absent, queue: 0))
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
                    worker: worker, submitter: thread(.submitter), queue: UInt16(plan.queueIndex(of: operation)),
                    operationClass: UInt8(clamping: Int(plan.classes?.ofOperation[operation] ?? 0)),
                    priority: hasPriorities ? Int8(clamping: Int(plan.classValue(of: operation))) : 0))
        }
    }

    private func addSpans(_ round: Round, _ origin: Int64) {
        if plan.startsSuspended {
            for queue in trace.queues.indices {
                trace.spans.append(
                    TracedSpan(
                        kind: .suspension, queue: UInt16(queue), start: 0, end: round.cancelled - origin))
            }
        }
        for hold in round.holds {
            trace.spans.append(
                TracedSpan(
                    kind: .suspension, queue: 0, start: hold.suspendReturned - origin, end: hold.resumeCalled - origin))
        }
    }

    private func addBarriers() {
        guard let barriers = plan.barriers else { return }
        for (number, operation) in trace.operations.enumerated()
        where barriers.isBarrier(number) && operation.end != .absent {
            trace.spans.append(
                TracedSpan(
                    kind: .barrier, queue: operation.queue, start: operation.submit, end: operation.end,
                    operation: UInt32(number)))
        }
    }

    /// Finishes the trace and checks its consistency.
    ///
    /// - Throws: `RecordError` if it is inconsistent.
    func finish() throws(RecordError) -> SampleTrace {
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
        trace.mendOrder()
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
