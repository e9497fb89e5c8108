import CRecording
import OpBenchModel

/// The events of a recording, collected in the order of its blocks, which is not that of time: what happened to an
/// operation may come before its submission, from another thread's block.
struct RecordedEvents {
    private var operations: [TracedOperation] = []
    private var details: [RecordedOperation] = []
    private var indices: [UInt64: UInt32] = [:]
    private var dependencies: [TracedDependency] = []
    private var threads = NumberedNames<UInt64>(limit: Int(UInt16.max))
    private var queues = NumberedNames<UInt64>(limit: Int(UInt16.max))
    private var classes = NumberedNames<UInt64>(limit: 1 << 8)
    private var limits: [UInt16: Int] = [:]
    private var roles: [UInt16: SampleTrace.Thread.Role] = [:]
    private var threadEvents: [TracedThreadEvent] = []
    /// When queues were suspended and resumed.
    private var suspensions: [(time: TraceTime, queue: UInt16, isStart: Bool)] = []
    /// Waits for a processor between operations: put directly before the start that ended them.
    private var waits: [TracedWait] = []
    private var knowsWaits = false
    private var lost: UInt64 = 0
    private var latest: TraceTime = 0

    /// - Returns: the first event that is at fault, by its place in the list, and the reason; nil if there is none.
    mutating func add(_ list: [crecording_event], of thread: Int32, lost: UInt64) -> (Int, String)? {
        self.lost.addClamped(lost)
        // 0: the recorder itself.
        let own = thread == 0 ? TracedOperation.unknown : threads.index(of: Self.key(ofThread: thread))
        for (number, event) in list.enumerated() {
            guard (-SampleTrace.latest...SampleTrace.latest).contains(event.time) else {
                return (number, "a time out of range")
            }
            latest = max(latest, event.time)
            if let fault = add(event, own) { return (number, fault) }
        }
        return nil
    }

    mutating func add(_ name: crecording_name, _ text: String) {
        switch crecording_named(name.kind) {
        case crecording_named_class: classes.names[name.subject] = text
        case crecording_named_queue: queues.names[name.subject] = text
        case crecording_named_thread: threads.names[name.subject] = text
        // Of something that a later recorder may name.
        default: break
        }
    }

    private static func key(ofThread thread: Int32) -> UInt64 { UInt64(UInt32(bitPattern: thread)) }

    private mutating func index(of operation: UInt64) -> Int? {
        if let index = indices[operation] { return Int(index) }
        guard operations.count < SampleTrace.mostOperations else { return nil }
        indices[operation] = UInt32(operations.count)
        operations.append(
            TracedOperation(submit: .absent, ready: .absent, start: .absent, end: .absent))
        details.append(RecordedOperation())
        return operations.count - 1
    }

    /// - Returns: what is wrong with it.
    private mutating func add(_ event: crecording_event, _ thread: UInt16) -> String? {
        let kind = crecording_kind(UInt32(event.kind))
        if let step = ThreadStep(rawValue: event.kind) { return add(event, step) }
        switch kind {
        case crecording_limit:
            let limit = event.value < 0 ? Int.max : max(1, Int(event.value))
            let queue = queues.index(of: UInt64(event.detail))
            limits[queue] = max(limits[queue] ?? 0, limit)
            return nil
        case crecording_suspended, crecording_resumed:
            suspensions.append(
                (event.time, queues.index(of: UInt64(event.detail)), kind == crecording_suspended))
            return nil
        default: break
        }
        guard let index = index(of: event.subject) else {
            return "more operations than the \(SampleTrace.mostOperations) that a trace may have"
        }
        switch kind {
        case crecording_enqueued:
            operations[index].submit = event.time
            operations[index].submitter = thread
            operations[index].queue = queues.index(of: UInt64(event.detail))
            operations[index].operationClass = UInt8(
                truncatingIfNeeded: classes.index(of: UInt64(bitPattern: event.value)))
            operations[index].priority = event.priority
            details[index].isClosure = event.flags & UInt8(crecording_is_closure) != 0
            details[index].isBarrier = event.flags & UInt8(crecording_is_barrier) != 0
            if roles[thread] == nil { roles[thread] = .submitter }
        case crecording_ready: operations[index].ready = event.time
        case crecording_started:
            operations[index].start = event.time
            operations[index].worker = thread
            roles[thread] = .worker
            if event.detail != crecording_unknown {
                knowsWaits = true
                let wait = Int64(event.detail) * 1000
                if wait > 0, thread != TracedOperation.unknown {
                    waits.append(TracedWait(start: event.time - wait, end: event.time, thread: thread))
                }
            }
        case crecording_finished:
            operations[index].end = event.time
            if event.value >= 0 { details[index].processorTime = event.value }
            details[index].isUnblocked = event.flags & UInt8(crecording_is_unblocked) != 0
            details[index].queuedTime = event.detail
            details[index].isCancelled = event.flags & UInt8(crecording_is_cancelled) != 0
        case crecording_notified: operations[index].notified = event.time
        case crecording_cancelled:
            details[index].cancelTime = event.time
            details[index].isCancelled = true
        case crecording_dependency:
            guard event.value != Int64(bitPattern: event.subject) else { return "an operation depends on itself" }
            guard let before = self.index(of: UInt64(bitPattern: event.value)) else {
                return "more operations than the \(SampleTrace.mostOperations) that a trace may have"
            }
            dependencies.append(TracedDependency(UInt32(before), before: UInt32(index)))
        default: return "an event of the unknown kind \(event.kind)"
        }
        return nil
    }

    private mutating func add(_ event: crecording_event, _ step: ThreadStep) -> String? {
        let thread = threads.index(of: event.subject)
        var other = TracedOperation.unknown
        switch step {
        case .leaseTaken, .leaseGivenUp: other = queues.index(of: UInt64(event.detail))
        case .wake, .unpark:
            if event.value != 0 { other = threads.index(of: UInt64(bitPattern: event.value)) }
            // It has woken nobody that is known.
            if step == .wake, event.value == 0 { return nil }
            if step == .unpark { roles[thread] = .worker }
        case .begin, .end, .park, .growth, .shrinkage: roles[thread] = .worker
        }
        threadEvents.append(TracedThreadEvent(time: event.time, thread: thread, kind: step, other: other))
        return nil
    }
}

// MARK: - The whole

extension RecordedEvents {
    /// Makes a trace that passes its checks.
    consuming func recording(
        _ window: RecordingWindow, end: TraceTime?, of part: RecordingPart
    ) throws(InputError) -> Recording {
        let queueNames = queues.texts { "queue \($0)" }
        if let name = window.queue, !queueNames.contains(name) {
            throw InputError(
                file: part.path, message: "the recording has no queue \(JSONText.quoted(name))",
                remedy: queueNames.isEmpty ? "it has none at all" : "its queues: " + list(queueNames))
        }
        var trace = SampleTrace(workerCount: min(max(1, Int(part.start.processors)), 1 << 16))
        (trace.title, trace.processID) = (part.program, part.start.process)
        let kept = keptOperations(window, queueNames)
        trace.queues = queueNames.enumerated().map { index, name in
            SampleTrace.Queue(name: name, limit: limits[UInt16(index)].flatMap { $0 == .max ? nil : $0 })
        }
        trace.threads = threads.texts { "thread \($0)" }.enumerated().map { index, name in
            SampleTrace.Thread(
                name: name, role: roles[UInt16(index)] ?? .other,
                id: Int32(truncatingIfNeeded: threads.keys[index]))
        }
        trace.classes = classes.texts { $0 == 0 ? "closure" : "operation" }
        let partial = operations.indices.count { operations[$0].submit == .absent && wasSeen($0) }
        var places = [UInt32](repeating: .max, count: operations.count)
        for (place, index) in kept.enumerated() { places[Int(index)] = UInt32(place) }
        trace.operations = kept.map { operations[Int($0)] }
        var details = kept.map { self.details[Int($0)] }
        operations = []
        self.details = []
        trace.dependencies = dependencies.compactMap { dependency in
            let (before, after) = (places[Int(dependency.predecessor)], places[Int(dependency.successor)])
            return before == .max || after == .max ? nil : TracedDependency(before, before: after)
        }
        trace.stop = min(end ?? latest, window.to ?? .max)
        trace.threadEvents = threadEvents.filter { window.contains($0.time) }
        trace.spans = spans(window, queueNames) + barriers(trace, details)
        trace.waits = knowsWaits ? waits.filter { window.contains($0.end) && $0.start >= -SampleTrace.latest } : nil
        Self.mend(&trace, &details)
        do throws(RecordError) { try trace.check() } catch {
            throw part.error(part.offset, "the events contradict one another: \(error.message)")
        }
        return Recording(
            trace: trace, details: details, program: part.program, startDate: part.start.date,
            clockStart: part.start.clock_start, lostEvents: Int(clamping: lost), partialOperations: partial,
            missingParts: 0, isCut: false, unreadBytes: 0)
    }

    private func list(_ names: [String]) -> String {
        names.prefix(8).map(JSONText.quoted).joined(separator: ", ") + (names.count > 8 ? " and more" : "")
    }

    /// Whether anything happened to it, beyond that another operation depends on it.
    private func wasSeen(_ index: Int) -> Bool {
        let operation = operations[index]
        return operation.ready != .absent || operation.start != .absent || operation.end != .absent
            || operation.notified != .absent || details[index].isCancelled
    }

    /// The operations in the window, in the order of submission.
    private func keptOperations(_ window: RecordingWindow, _ queueNames: [String]) -> [UInt32] {
        operations.indices.filter { index in
            let operation = operations[index]
            return operation.submit != .absent && window.contains(operation.submit)
                && (window.queue.map { $0 == queueNames[Int(operation.queue)] } ?? true)
        }
        .map { UInt32($0) }.sorted { (operations[Int($0)].submit, $0) < (operations[Int($1)].submit, $1) }
    }

    private func spans(_ window: RecordingWindow, _ queueNames: [String]) -> [TracedSpan] {
        var open: [UInt16: TraceTime] = [:]
        var spans: [TracedSpan] = []
        for change in suspensions.sorted(by: { $0.time < $1.time }) {
            if change.isStart {
                if open[change.queue] == nil { open[change.queue] = change.time }
            } else if let start = open.removeValue(forKey: change.queue) {
                spans.append(TracedSpan(kind: .suspension, queue: change.queue, start: start, end: change.time))
            }
        }
        for (queue, start) in open.sorted(by: { $0.key < $1.key }) {
            spans.append(TracedSpan(kind: .suspension, queue: queue, start: start, end: .absent))
        }
        return spans.filter { span in
            (window.queue.map { $0 == queueNames[Int(span.queue)] } ?? true)
                && span.end >= window.from ?? .min && span.start < window.to ?? .max
        }
    }

    private func barriers(_ trace: SampleTrace, _ details: [RecordedOperation]) -> [TracedSpan] {
        details.indices.filter { details[$0].isBarrier }.map { index in
            let barrier = trace.operations[index]
            return TracedSpan(
                kind: .barrier, queue: barrier.queue, start: barrier.submit,
                end: barrier.end == .absent ? .absent : max(barrier.submit, barrier.end), operation: UInt32(index))
        }
    }

    /// Fills in times that no event gave, and puts those of different threads in order.
    private static func mend(_ trace: inout SampleTrace, _ details: inout [RecordedOperation]) {
        var hasPredecessor = [Bool](repeating: false, count: trace.operations.count)
        for dependency in trace.dependencies { hasPredecessor[Int(dependency.successor)] = true }
        for index in trace.operations.indices where trace.operations[index].ready == .absent {
            guard trace.operations[index].wasExecuted else { continue }
            // A lost event.
            trace.operations[index].ready =
                hasPredecessor[index] ? trace.operations[index].start : trace.operations[index].submit
        }
        trace.mendOrder()
        for index in details.indices where details[index].processorTime != .absent {
            guard trace.operations[index].wasExecuted else {
                details[index].processorTime = .absent
                continue
            }
            let elapsed = trace.operations[index].elapsed
            let away = max(0, elapsed - min(elapsed, details[index].processorTime))
            let queued = details[index].queuedTime
            trace.operations[index].offProcessor = away
            trace.operations[index].processorWait =
                details[index].isUnblocked
                ? away : queued == crecording_unknown ? .absent : min(Int64(queued) * 1000, away)
        }
    }
}

/// Things with numbers of their own, in the order in which they came. Those beyond the limit share the last index.
struct NumberedNames<Key: Hashable> {
    private(set) var keys: [Key] = []
    private var indices: [Key: UInt16] = [:]
    /// The last one. Most events are of the same as the event before.
    private var last: (key: Key, index: UInt16)?
    var names: [Key: String] = [:]
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    mutating func index(of key: Key) -> UInt16 {
        if let last, last.key == key { return last.index }
        let index = indices[key] ?? add(key)
        last = (key, index)
        return index
    }

    private mutating func add(_ key: Key) -> UInt16 {
        guard keys.count < limit else { return UInt16(limit - 1) }
        keys.append(key)
        indices[key] = UInt16(keys.count - 1)
        return UInt16(keys.count - 1)
    }

    /// The names in the order of the indices.
    func texts(_ unnamed: (Key) -> String) -> [String] { keys.map { names[$0] ?? unnamed($0) } }
}
