import OpBenchModel
import Testing

@testable import OpBenchProfile

@Suite("Work and span")
struct WorkSpanTests {
    private func figures(_ trace: SampleTrace) throws -> (WorkSpan, WaitAnalysis, CriticalPath) {
        try trace.check()
        let graph = try OperationGraph(trace)
        let waits = WaitAnalysis(trace, graph)
        return (WorkSpan(trace, graph, burden: waits.burden), waits, CriticalPath(trace, graph))
    }

    @Test("A chain: the span is the work, and the path contains all of it")
    func chain() throws {
        let (workSpan, waits, path) = try figures(Fixture.chain)
        #expect(workSpan.work == 30)
        #expect(workSpan.span == 30)
        #expect(workSpan.spanPath == [0, 1, 2])
        #expect(workSpan.elapsed == 35)
        #expect(workSpan.parallelism == 1)
        // Hand-overs of 0, 2 and 1 + 2 ns.
        #expect(waits.burden == 2)
        #expect(workSpan.burdenedSpan == 36)
        #expect(workSpan.schedulingEfficiency == 30.0 / 35)
        #expect(path.steps.map(\.operation) == [0, 1, 2])
        #expect(path.steps.map(\.duration) == [10, 10, 10])
        #expect(path.steps.map(\.wait.parts) == [[:], [.wakeUp: 2], [.dependency: 1, .wakeUp: 2]])
        #expect(path.total == 35)
        #expect(waits.splits[2].parts == [.dependency: 23, .wakeUp: 2])
    }

    @Test("Workers that were added while bodies blocked count")
    func blocked() throws {
        let ranges: [(Int64, Int64)] = [(0, 10), (0, 10), (10, 20), (15, 25), (30, 30), (30, 30)]
        let trace = Fixture.trace(workers: 1, ranges.map { TracedOperation(submit: 0, start: $0, end: $1) })
        #expect(trace.mostWorkers == 2)
        let (workSpan, _, _) = try figures(trace)
        #expect(workSpan.workers == 2 && workSpan.utilisation == 40.0 / 60 && workSpan.lowerBound == 20)
    }

    @Test("A body without a processor waits for one, and does no work; the plan's work and span are separate")
    func processor() throws {
        let (workSpan, waits, path) = try figures(Fixture.disturbedChain)
        #expect(workSpan.work == 24)
        #expect(workSpan.span == 24)
        #expect(workSpan.schedulingEfficiency == 24.0 / 35)
        #expect(workSpan.planned == .init(work: 21, span: 21))
        #expect(waits.splits.map { $0[.processor] } == [0, 6, 0])
        #expect(waits.total[.processor] == 6)
        #expect(path.steps.map(\.duration) == [10, 4, 10])
        #expect(path.steps[1].wait.parts == [.wakeUp: 2, .processor: 6])
        #expect(path.total == 35)
        // The part of the body before a submission contains as little of the wait as possible.
        var refill = Fixture.refill
        (refill.operations[0].offProcessor, refill.operations[0].processorWait) = (7, 7)
        #expect(try figures(refill).0.span == 3 + 8 + 5)
        #expect(try figures(refill).2.steps[0].duration == 3)
        #expect(try figures(refill).2.total == 30)
    }

    @Test("A blocked body does work, and its waits are its own; a trace may not tell them from waits for a processor")
    func blockedBody() throws {
        var trace = Fixture.disturbedChain
        for (processorWait, work, parts): (Int64, Int64, [WaitReason: Int64]) in [
            (2, 28, [.wakeUp: 2, .processor: 2, .blocked: 4]), (.absent, 30, [.wakeUp: 2, .blockedOrProcessor: 6]),
        ] {
            trace.operations[1].processorWait = processorWait
            let (workSpan, waits, path) = try figures(trace)
            #expect(workSpan.work == work && workSpan.span == work)
            #expect(waits.splits[1].total == 10 + parts.values.reduce(0, +))
            #expect(path.steps.map(\.duration) == [10, 4, 10] && path.steps[1].wait.parts == parts)
            #expect(path.total == 35)
        }
    }

    @Test("A free worker in the run queue lacks a processor; the rest of its way is the wake-up, or the hand-over")
    func waitingWorker() throws {
        var trace = Fixture.trace(
            workers: 2,
            [
                TracedOperation(submit: 0, start: 0, end: 10, worker: 0),
                TracedOperation(submit: 2, start: 20, end: 30, worker: 1),
                TracedOperation(submit: 2, start: 42, end: 50, worker: 0),
            ])
        trace.threads = (0..<2).map { SampleTrace.Thread(name: "worker \($0)", role: .worker, id: Int32($0)) }
        trace.waits = [TracedWait(start: 5, end: 15, thread: 1), TracedWait(start: 25, end: 40, thread: 0)]
        #expect(
            try figures(trace).1.splits.map(\.parts) == [
                [:], [.wakeUp: 8, .processor: 10], [.wakeUp: 10, .handOver: 5, .processor: 25],
            ])
        // While both are in bodies, the wait is for a worker.
        trace.operations[0].end = 25
        trace.operations[2].start = 27
        trace.waits = [TracedWait(start: 22, end: 26, thread: 0)]
        #expect(try figures(trace).1.splits[2].parts == [.wakeUp: 18, .workers: 5, .processor: 1, .handOver: 1])
        trace.waits = nil
        #expect(try figures(trace).1.splits[2].parts == [.wakeUpOrProcessor: 18, .workers: 5, .handOver: 2])
    }

    @Test("The plan's span is its own longest chain; there is none if a body has no planned time")
    func planned() throws {
        var trace = Fixture.diamond
        #expect(try figures(trace).0.planned == nil)
        for index in trace.operations.indices { trace.operations[index].planned = 0 }
        #expect(try figures(trace).0.planned == nil)
        trace.operations[2].planned = 40
        trace.operations[3].planned = 5
        #expect(try figures(trace).0.planned == .init(work: 45, span: 45))
        trace.operations[1].planned = 3
        #expect(try figures(trace).0.planned == .init(work: 48, span: 45))
    }

    @Test("Of two rounds, the less disturbed is the one whose bodies waited less for a processor, or the shorter one")
    func disturbance() {
        let (quiet, disturbed) = (Fixture.chain, Fixture.disturbedChain)
        #expect(disturbed.processorWaitShare == 0.2)
        #expect(quiet.processorWaitShare == 0 && Fixture.trace(workers: 1, []).processorWaitShare == 0)
        #expect(quiet.isLessDisturbed(than: disturbed) && !disturbed.isLessDisturbed(than: quiet))
        #expect(!quiet.isLessDisturbed(than: quiet))
        var shorter = disturbed
        shorter.operations[2].end -= 1
        // 20.7 % differs from 20.
        #expect(!shorter.isLessDisturbed(than: disturbed))
        (shorter.operations[1].offProcessor, shorter.operations[1].processorWait) = (0, 0)
        #expect(shorter.isLessDisturbed(than: quiet))
    }

    @Test("A diamond: the longer side is the span")
    func diamond() throws {
        let (workSpan, _, path) = try figures(Fixture.diamond)
        #expect(workSpan.work == 45)
        #expect(workSpan.span == 35)
        #expect(workSpan.spanPath == [0, 1, 3])
        #expect(workSpan.parallelism == 45.0 / 35)
        #expect(workSpan.averageParallelism == 45.0 / 35)
        #expect(workSpan.utilisation == 45.0 / 70)
        #expect(workSpan.lowerBound == 35)
        #expect(workSpan.brentBound == 40)
        #expect(workSpan.schedulingEfficiency == 1)
        #expect(workSpan.burdenedSpan == 35)
        #expect(path.steps.map(\.operation) == [0, 1, 3])
        #expect(path.waits.total == 0)
    }

    @Test("Limit 1: waits for the limit, and for waking up")
    func limitOne() throws {
        let (workSpan, waits, path) = try figures(Fixture.limitOne)
        #expect(workSpan.work == 30)
        #expect(workSpan.span == 10)
        #expect(workSpan.lowerBound == 15)
        #expect(workSpan.schedulingEfficiency == 15.0 / 32)
        #expect(waits.splits.map(\.parts) == [[:], [.limit: 10, .wakeUp: 2], [.limit: 20, .wakeUp: 2]])
        #expect(waits.total.parts == [.limit: 30, .wakeUp: 4])
        #expect(path.steps.map(\.operation) == [2])
        #expect(path.waits.parts == [.limit: 20, .wakeUp: 2])
        #expect(path.total == 32)
    }

    @Test("Two priorities: an overtaken operation waits for the priority from then on")
    func priorities() throws {
        for (limit, reason) in [(nil, WaitReason.workers), (1, .limit)] as [(Int?, WaitReason)] {
            let trace = Fixture.twoPriorities(limit: limit)
            let (_, waits, path) = try figures(trace)
            #expect(waits.splits[1].parts == [reason: 10, .priority: 10])
            #expect(waits.splits[2].parts == [reason: 9])
            #expect(path.steps.map(\.operation) == [1])
            #expect(path.total == 30)
        }
        let (_, waits, _) = try figures(Fixture.inversion)
        #expect(waits.splits[2].parts == [.workers: 19])
    }

    @Test("A suspension delays operations that would have waited for a worker")
    func suspension() throws {
        let (_, waits, path) = try figures(Fixture.suspension)
        #expect(waits.splits[1].parts == [.workers: 5, .suspension: 20, .wakeUp: 2])
        #expect(path.waits.parts == [.workers: 5, .suspension: 20, .wakeUp: 2])
    }

    @Test("A barrier waits for earlier operations, and later ones wait for it")
    func barrier() throws {
        let (workSpan, waits, path) = try figures(Fixture.barrier)
        #expect(workSpan.work == 50)
        #expect(workSpan.span == 40)
        #expect(workSpan.spanPath == [1, 2, 3])
        #expect(waits.splits[2].parts == [.barrier: 19, .wakeUp: 1])
        #expect(waits.splits[3].parts == [.barrier: 29])
        #expect(path.steps.map(\.operation) == [1, 2, 3])
        #expect(path.steps.map(\.wait.parts) == [[:], [.wakeUp: 1], [:]])
        #expect(path.total == 41)
    }

    @Test("A worker in another queue's operation, and one that grows for a blocked one")
    func workersElsewhere() throws {
        var trace = Fixture.trace(
            workers: 1, limits: [nil, nil],
            [
                TracedOperation(submit: 0, start: 0, end: 10, queue: 0),
                TracedOperation(submit: 2, start: 8, end: 12, queue: 1),
            ])
        #expect(try figures(trace).1.splits[1].parts == [.workers: 6])
        trace.threads = [SampleTrace.Thread(name: "worker", role: .worker, id: 1)]
        trace.threadEvents = [TracedThreadEvent(time: 5, thread: 0, kind: .growth)]
        #expect(try figures(trace).1.splits[1].parts == [.workers: 3, .wakeUp: 3])
    }

    @Test("A worker between two operations hands over; one that slept, or was away for long, had to be woken")
    func handOver() throws {
        func waits(_ pause: Int64, limit: Int? = nil, workers: Int = 1, isParked: Bool = false) throws -> WaitAnalysis {
            var trace = Fixture.trace(
                workers: workers, limits: [limit],
                [
                    TracedOperation(submit: 0, start: 0, end: 10, worker: 0),
                    TracedOperation(submit: 4, start: 10 + pause, end: 20 + pause, worker: 0),
                ])
            trace.threads = [SampleTrace.Thread(name: "worker", role: .worker, id: 1)]
            if isParked { trace.threadEvents = [TracedThreadEvent(time: 11, thread: 0, kind: .park)] }
            return try figures(trace).1
        }
        #expect(try waits(5).splits[1].parts == [.workers: 6, .handOver: 5])
        #expect(try waits(5).burden == 0)
        #expect(try waits(5, isParked: true).splits[1].parts == [.workers: 6, .wakeUp: 5])
        #expect(try waits(10_001).splits[1].parts == [.workers: 6, .wakeUp: 10_001])
        #expect(try waits(5, limit: 1, workers: 2).splits[1].parts == [.limit: 6, .handOver: 5])
        // The other worker could have been woken.
        #expect(try waits(5, workers: 2).splits[1].parts == [.wakeUp: 11])
    }

    @Test("The time before a late submission belongs to the submitter")
    func submission() throws {
        let trace = Fixture.trace(
            workers: 1,
            [TracedOperation(submit: 0, start: 0, end: 10), TracedOperation(submit: 15, start: 16, end: 20)],
            dependencies: [(0, 1)])
        let (_, _, path) = try figures(trace)
        #expect(path.steps.map(\.wait.parts) == [[.submission: 15, .wakeUp: 1]])
        #expect(path.total == 20)
    }

    @Test("Operations submitted by operations are in their chains, from the submission on")
    func refill() throws {
        let (workSpan, waits, path) = try figures(Fixture.refill)
        let graph = try OperationGraph(Fixture.refill)
        #expect((0..<3).map { graph.submitter(of: $0) } == [nil, 0, 1])
        #expect(workSpan.work == 23)
        // 4 of the first, all of the second, since its completion block submits, and the third.
        #expect(workSpan.span == 4 + 8 + 5)
        #expect(workSpan.spanPath == [0, 1, 2])
        // 0, 2 ns after the worker ended the first, and 4.
        #expect(waits.burden == 2)
        #expect(workSpan.burdenedSpan == 17 + 3 * 2)
        #expect(path.steps.map(\.operation) == [0, 1, 2])
        #expect(path.steps.map(\.duration) == [4, 8, 5])
        #expect(path.steps.map(\.wait.parts) == [[:], [.wakeUp: 8], [.submission: 1, .wakeUp: 4]])
        #expect(path.total == 30)
        // A dependency on its own submission: the times contradict each other, and the submission is dropped.
        var cycle = Fixture.refill
        cycle.dependencies = [TracedDependency(1, before: 0)]
        #expect(try OperationGraph(cycle).submitter(of: 1) == nil)
        #expect(try figures(cycle).2.total == 30)
    }

    @Test("Cancelled operations take no time, but their successors wait for them")
    func cancelled() throws {
        let trace = Fixture.trace(
            workers: 1,
            [
                TracedOperation(submit: 0, start: 0, end: 10),
                TracedOperation(submit: 0, ready: .absent, start: .absent, end: 4),
                TracedOperation(submit: 0, ready: 10, start: 10, end: 15),
            ], dependencies: [(0, 1), (1, 2)])
        let (workSpan, waits, path) = try figures(trace)
        #expect(workSpan.work == 15)
        #expect(workSpan.span == 15)
        #expect(waits.splits[1] == WaitSplit())
        #expect(path.total == 15)
    }

    @Test("A cycle is rejected, also one through a barrier")
    func cycle() throws {
        let operations = [TracedOperation(submit: 0, start: 0, end: 1), TracedOperation(submit: 0, start: 1, end: 2)]
        let trace = Fixture.trace(workers: 1, operations, dependencies: [(0, 1), (1, 0)])
        #expect(throws: RecordError.self) { try OperationGraph(trace) }
        var barrier = Fixture.trace(workers: 1, operations, dependencies: [(1, 0)])
        barrier.spans = [TracedSpan(kind: .barrier, queue: 0, start: 0, end: 2, operation: 1)]
        #expect(throws: RecordError.self) { try OperationGraph(barrier) }
    }

    // MARK: Random traces

    /// Acyclic, and otherwise with any records that pass the checks, even if no scheduler would produce them.
    static func random(_ seed: UInt64, _ count: Int = 14) -> SampleTrace {
        var generator = SplitMix64(seed: seed)
        func number(_ range: ClosedRange<Int64>) -> Int64 { .random(in: range, using: &generator) }
        let first: Int? = number(0...2) == 0 ? nil : Int(number(1...3))
        let limits = [first, number(0...1) == 0 ? nil : 1]
        var operations: [TracedOperation] = []
        for _ in 0..<count {
            let submit = number(0...30)
            let ready = submit + number(0...10)
            let start = ready + number(0...30)
            let elapsed = number(0...15)
            let processorWait = max(0, number(-10...elapsed) - 1)
            operations.append(
                TracedOperation(
                    submit: submit, ready: ready, start: start, end: start + elapsed,
                    offProcessor: min(elapsed, processorWait + submit % 4), processorWait: processorWait,
                    worker: number(0...4) == 0 ? TracedOperation.unknown : UInt16(number(0...1)),
                    queue: UInt16(number(0...1)), priority: Int8(number(-1...1))))
        }
        var trace = Fixture.trace(workers: Int(number(1...3)), limits: limits, operations)
        trace.threads = (0..<2).map { SampleTrace.Thread(name: "worker \($0)", role: .worker, id: Int32($0)) }
        for successor in 1..<count where number(0...2) > 0 {
            trace.dependencies.append(
                TracedDependency(UInt32(number(0...Int64(successor - 1))), before: UInt32(successor)))
        }
        for _ in 0..<number(0...2) {
            let start = number(0...40)
            trace.spans.append(
                TracedSpan(kind: .suspension, queue: UInt16(number(0...1)), start: start, end: start + number(0...20)))
        }
        trace.waits = (0..<number(0...3)).map { _ in
            let start = number(0...60)
            return TracedWait(start: start, end: start + number(0...10), thread: UInt16(number(0...1)))
        }
        return trace
    }

    /// The rules of `WaitReason`, one nanosecond at a time.
    private func reason(_ trace: SampleTrace, _ index: Int, at time: TraceTime, _ barrierEnd: TraceTime) -> WaitReason {
        let own = trace.operations[index]
        if time < own.submit { return .submission }
        if time < own.ready { return .dependency }
        func isSuspended(_ span: TracedSpan) -> Bool {
            span.kind == .suspension && span.queue == own.queue && span.start <= time && time < span.end
        }
        if trace.spans.contains(where: isSuspended) { return .suspension }
        if time < barrierEnd { return .barrier }
        /// The time until which an operation keeps its worker, if that continues with another one at once.
        func heldUntil(_ operation: TracedOperation) -> TraceTime {
            guard operation.worker != TracedOperation.unknown else { return operation.end }
            let others = trace.operations.filter { $0.worker == operation.worker }
                .sorted { ($0.start, $0.end) < ($1.start, $1.end) }
            guard let place = others.lastIndex(of: operation), place + 1 < others.count else { return operation.end }
            return max(operation.end, others[place + 1].start)
        }
        func occupation(
            _ candidates: [TracedOperation], _ width: Int?, _ reason: WaitReason, isHeld: Bool = false
        ) -> WaitReason? {
            let running = candidates.count { $0.start <= time && time < (isHeld ? heldUntil($0) : $0.end) }
            guard let width, running >= width else { return nil }
            let latest = candidates.filter { $0.start <= time }.map { ($0.start, $0.priority) }.max { $0 < $1 }
            if let latest, latest.0 > own.ready, latest.1 > own.priority { return .priority }
            return reason
        }
        let ofQueue = trace.operations.filter { $0.queue == own.queue }
        return occupation(ofQueue, trace.queues[Int(own.queue)].limit, .limit)
            ?? occupation(trace.operations, trace.workerCount, .workers)
            ?? ((trace.waits ?? []).contains { $0.start <= time && time < $0.end } ? .processor : nil)
            ?? occupation(ofQueue, trace.queues[Int(own.queue)].limit, .limit, isHeld: true).map { _ in .handOver }
            ?? occupation(trace.operations, trace.workerCount, .workers, isHeld: true).map { _ in .handOver } ?? .wakeUp
    }

    @Test("Random traces: waits equal those counted nanosecond by nanosecond", arguments: 0..<60 as Range<UInt64>)
    func randomWaits(seed: UInt64) throws {
        var trace = Self.random(seed)
        for index in stride(from: 0, to: 14, by: 5) { trace.operations[index].processorWait = .absent }
        if seed % 3 == 0 {
            let barrier = UInt32(seed % 14)
            let own = trace.operations[Int(barrier)]
            trace.spans.append(
                TracedSpan(kind: .barrier, queue: own.queue, start: own.submit, end: own.end, operation: barrier))
            // Dependencies against the order of submission would cause a deadlock.
            trace.dependencies = []
        }
        try trace.check()
        let graph = try OperationGraph(trace)
        let waits = WaitAnalysis(trace, graph)
        let barriers = WaitAnalysis.barrierEnds(trace)
        for (index, operation) in trace.operations.enumerated() {
            var expected = WaitSplit()
            expected = expected + operation.bodyWaits
            for time in operation.submit..<operation.start {
                expected[reason(trace, index, at: time, barriers[UInt32(index)] ?? .min)] += 1
            }
            #expect(waits.splits[index] == expected, "operation \(index)")
        }
        #expect(CriticalPath(trace, graph).total == trace.elapsed)
    }

    @Test("Random graphs: the span is the longest chain, and grows with it", arguments: 0..<40 as Range<UInt64>)
    func randomSpans(seed: UInt64) throws {
        var trace = Self.random(seed, 40)
        trace.spans = []
        let graph = try OperationGraph(trace)
        let workSpan = WorkSpan(trace, graph)
        var ends = trace.operations.map(\.duration)
        for _ in trace.operations {
            for edge in trace.dependencies {
                let (first, second) = (Int(edge.predecessor), Int(edge.successor))
                ends[second] = max(ends[second], ends[first] + trace.operations[second].duration)
            }
        }
        #expect(ends.max() == workSpan.span)
        #expect(workSpan.spanPath.reduce(0) { $0 + trace.operations[$1].duration } == workSpan.span)
        var grown = trace
        grown.operations[workSpan.spanPath[0]].end += 1
        #expect(WorkSpan(grown, graph).span == workSpan.span + 1)
    }

    @Test(
        "Random submissions: the path accounts for all time",
        arguments: 0..<60 as Range<UInt64>)
    func randomSubmissions(seed: UInt64) throws {
        var trace = Self.random(seed, 30)
        trace.spans = []
        trace.threads = (0..<3).map { SampleTrace.Thread(name: "t\($0)", role: .worker, id: $0 + 1) }
        for index in trace.operations.indices {
            trace.operations[index].worker = UInt16(index % 3)
            trace.operations[index].submitter = UInt16((index / 3 + Int(seed)) % 3)
        }
        try trace.check()
        let graph = try OperationGraph(trace)
        var places = [Int](repeating: 0, count: graph.count)
        for (place, operation) in graph.order.enumerated() { places[Int(operation)] = place }
        for index in trace.operations.indices {
            guard let submitter = graph.submitter(of: index) else { continue }
            let (own, body) = (trace.operations[index], trace.operations[submitter])
            #expect(body.start <= own.submit && own.submit <= body.end && body.worker == own.submitter)
            #expect(places[submitter] < places[index])
        }
        #expect(CriticalPath(trace, graph).total == trace.elapsed)
    }
}
