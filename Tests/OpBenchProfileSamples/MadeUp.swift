import OpBenchModel
import OpBenchProfile

/// Operations of about 1 µs on four workers, with everything that a trace may hold: dependencies, priorities,
/// asynchronous operations that overlap, cancelled ones, parks, wake-ups, leases, growth, suspensions and barriers.
func madeUpTrace(operations count: Int) -> SampleTrace {
    let workers = 4
    var trace = SampleTrace(workerCount: workers)
    trace.title = hostile
    trace.processID = 4711
    trace.threads = (0..<workers).map {
        SampleTrace.Thread(name: "engine normal \($0 + 1)", role: .worker, id: Int32(100 + $0))
    }
    trace.threads += (0..<2).map { SampleTrace.Thread(name: "submitter \($0 + 1)", role: .submitter, id: 200 + $0) }
    trace.queues = [SampleTrace.Queue(name: hostile), SampleTrace.Queue(name: "serial", limit: 1)]
    trace.classes = ["small", hostile]
    trace.operations.reserveCapacity(count)
    for index in 0..<count { add(UInt32(index), workers, to: &trace) }
    trace.stop = trace.operations.reduce(0) { max($0, $1.end == .absent ? 0 : $1.end) }
    return trace
}

private func add(_ index: UInt32, _ workers: Int, to trace: inout SampleTrace) {
    let worker = UInt16(Int(index) % workers)
    // Workers take turns of 2 µs, and submitters are well ahead of them.
    let turn = Int64(index) / Int64(workers) * 2000 + Int64(worker) * 10
    let submit = Int64(index) * 50 - 40
    let start = max(submit, turn) + 300
    var operation = TracedOperation(
        submit: submit, ready: max(submit, min(turn, start)), start: start, end: start + 1000 + Int64(index % 7),
        notified: start + 1100, offProcessor: [5: 200, 6: 300, 7: 400][index % 10] ?? 0,
        processorWait: [5: 200, 6: 100, 7: .absent][index % 10] ?? 0, worker: worker,
        submitter: UInt16(workers + Int(index % 2)),
        queue: index % 5 == 0 ? 1 : 0, operationClass: UInt8(index % 3 == 0 ? 1 : 0),
        priority: [0, 0, 4, -8][Int(index % 4)])
    switch index % 100 {
    case 17:
        // Ends on another thread, amid others.
        (operation.end, operation.notified) = (start + 5500, start + 5600)
    case 18: (operation.start, operation.end, operation.notified) = (.absent, max(submit, turn), .absent)
    case 19: operation.worker = TracedOperation.unknown
    case 20:
        trace.spans.append(
            TracedSpan(
                kind: .barrier, queue: operation.queue, start: submit, end: operation.end, operation: index))
    case 21: trace.spans.append(TracedSpan(kind: .suspension, queue: 0, start: start, end: start + 2500))
    default: break
    }
    trace.operations.append(operation)
    if index >= 4 { trace.dependencies.append(TracedDependency(index - 4, before: index)) }

    func event(_ time: TraceTime, _ kind: TracedThreadEvent.Kind, _ other: UInt16 = TracedOperation.unknown) {
        trace.threadEvents.append(TracedThreadEvent(time: time, thread: worker, kind: kind, other: other))
    }
    if index < workers { event(-100, .begin) }
    if index % 50 < workers {
        event(turn - 90, .leaseGivenUp, 0)
        event(turn - 80, .park)
        event(turn - 30, .unpark, (worker + 1) % UInt16(workers))
        event(turn - 20, .leaseTaken, 0)
        trace.threadEvents.append(
            TracedThreadEvent(time: turn - 40, thread: (worker + 1) % UInt16(workers), kind: .wake, other: worker))
        event(turn, .growth)
        event(turn + 100, .shrinkage)
    }
}

/// Stacks of ten functions, some of whose names are hostile.
func madeUpProfile(seed: UInt64) -> StackProfile {
    var generator = SplitMix64(seed: seed)
    var profile = StackProfile(unit: .nanoseconds)
    let names = ["start_thread", "swift_retain", "malloc", hostile, "a;b", "$s15OperationEngine9QueueCoreC3runyyF"]
    for sample in 0..<500 {
        let depth = Int.random(in: 0...12, using: &generator)
        let stack = (0..<depth).map { place in
            StackFrame(
                name: place == 0 ? "start_thread" : names.randomElement(using: &generator)!, object: "/b/\(hostile)")
        }
        profile.add(
            stack, weight: .random(in: 1...2_000_000, using: &generator), thread: "engine normal \(sample % 3)",
            time: Int64(sample))
    }
    return profile
}
