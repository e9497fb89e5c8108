@testable import OpBenchProfile

/// The trace of a server that answers eight requests in each 1.6 ms: a `Search` of 100 to 200 µs, half of them blocked, in
/// the queue `searches`, and a `Page`, which depends on it, in `pages`. Always the same for the same fault.
struct ScriptedServer {
    enum Fault: CaseIterable {
        /// A `Refresh` holds a lock for 60 ms, which searches take; one for a thousand requests.
        case lock
        /// One of 150 pages also depends on a `Lookup`, which is blocked for 50 ms.
        case dependency
        /// Searches run one at a time.
        case limit
        /// For 10 of each 100 ms, nothing gets a processor.
        case neighbour
        /// The queue of searches is suspended for 50 ms, twice a second.
        case suspension
    }

    private(set) var trace = SampleTrace(workerCount: 64)
    private var seed: UInt64 = 1

    static let requests = 4000

    init(_ fault: Fault?) {
        trace.title = "scripted server"
        let limit = fault == .limit ? 1 : 32
        trace.queues = [.init(name: "searches", limit: limit), .init(name: "pages"), .init(name: "others")]
        trace.classes = ["Search", "Page", "Refresh", "Lookup"]
        trace.threads = (0..<64).map { SampleTrace.Thread(name: "worker \($0)", role: .worker, id: Int32($0 + 1)) }
        if fault == .suspension {
            for time in stride(from: TraceTime(200_000_000), to: 800_000_000, by: 500_000_000) {
                trace.spans.append(TracedSpan(kind: .suspension, queue: 0, start: time, end: time + 50_000_000))
            }
        }
        var free = [TraceTime](repeating: 0, count: limit)
        var release: TraceTime = 0
        for number in 0..<Self.requests {
            let submit = TraceTime(number / 8) * 1_600_000 + random(below: 100_000)
            var lookup: UInt32?
            if fault == .lock, number % 1000 == 500 {
                add(submit: submit, start: submit + 5000, running: 5000, blocked: 60_000_000, queue: 2, class: 2)
                release = submit + 60_000_000
            }
            if fault == .dependency, number % 150 == 75 {
                lookup = UInt32(trace.operations.count)
                add(submit: submit, start: submit + 5000, running: 5000, blocked: 50_000_000, queue: 2, class: 3)
            }
            let slot = free.indices.min { free[$0] < free[$1] }!
            var start = max(submit + 5000, free[slot])
            for span in trace.spans where (span.start..<span.end).contains(start) { start = span.end + 5000 }
            let half = 50_000 + random(below: fault == .limit ? 45_000 : 50_000)
            let late = fault == .neighbour ? max(0, 10_000_000 - start % 100_000_000) : 0
            let search = UInt32(trace.operations.count)
            let held = max(0, release - start - half)
            let end = add(
                submit: submit, start: start, running: half, blocked: half + held, queued: late, queue: 0, class: 0)
            free[slot] = end
            let ready = max(end, lookup.map { trace.operations[Int($0)].end } ?? end)
            trace.dependencies.append(TracedDependency(search, before: search + 1))
            if let lookup { trace.dependencies.append(TracedDependency(lookup, before: search + 1)) }
            add(submit: submit, ready: ready, start: ready + 5000, running: 20_000, queue: 1, class: 1)
        }
        trace.stop = trace.operations.map(\.end).max()!
    }

    @discardableResult
    private mutating func add(
        submit: TraceTime, ready: TraceTime? = nil, start: TraceTime, running: Int64, blocked: Int64 = 0,
        queued: Int64 = 0, queue: UInt16, class operationClass: UInt8
    ) -> TraceTime {
        var operation = TracedOperation(
            submit: submit, ready: ready, start: start, end: start + running + blocked + queued,
            offProcessor: blocked + queued, processorWait: queued, worker: UInt16(trace.operations.count % 64),
            queue: queue, operationClass: operationClass)
        operation.notified = operation.end
        trace.operations.append(operation)
        return operation.end
    }

    /// splitmix64.
    private mutating func random(below limit: Int64) -> Int64 {
        seed &+= 0x9E37_79B9_7F4A_7C15
        var word = (seed ^ seed >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return Int64((word ^ word >> 31) % UInt64(limit))
    }
}
