import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("The slowest operations")
struct TailTests {
    /// In nanoseconds.
    private static let (interval, work, wakeUp, long): (Int64, Int64, Int64, Int64) = (20_000, 10_000, 2000, 2_000_000)
    private static let places = [100, 250, 417, 600, 900]

    /// A thousand operations that arrive every 20 µs and take 10 µs, each on the worker that has been free for longest,
    /// 2 µs after the arrival.
    ///
    /// - Parameters:
    ///   - body: the body's time from start to end and the part for which it is blocked, by number and start.
    private func trace(
        workers: Int, limit: Int? = nil,
        body: (Int, TraceTime) -> (elapsed: Int64, blocked: Int64) = { _, _ in (Self.work, 0) }
    ) -> SampleTrace {
        var free = [TraceTime](repeating: 0, count: min(limit ?? workers, workers))
        let operations = (0..<1000).map { number in
            let submit = Int64(number) * Self.interval
            let worker = free.indices.min { free[$0] < free[$1] }!
            let start = max(submit + Self.wakeUp, free[worker])
            let (elapsed, blocked) = body(number, start)
            free[worker] = start + elapsed
            return TracedOperation(
                submit: submit, start: start, end: start + elapsed, offProcessor: blocked,
                worker: UInt16(worker), submitter: UInt16(workers))
        }
        var trace = Fixture.trace(workers: workers, limits: [limit], operations)
        trace.threads =
            (0..<workers).map { SampleTrace.Thread(name: "worker \($0 + 1)", role: .worker, id: Int32($0 + 1)) }
            + [SampleTrace.Thread(name: "submitter 1", role: .submitter, id: Int32(workers + 1))]
        return trace
    }

    /// One of the operations holds a lock for 2 ms that all take.
    ///
    /// - Parameter isAsleep: whether it sleeps meanwhile.
    private func heldLock(by holder: Int, isAsleep: Bool = false) -> SampleTrace {
        var release: TraceTime = 0
        return trace(workers: 8) { number, start in
            if number == holder {
                release = start + Self.long
                return (Self.long, isAsleep ? Self.long : 0)
            }
            let wait = max(0, release - start)
            return (Self.work + wait, wait)
        }
    }

    private func tails(_ trace: SampleTrace) throws -> Tails {
        try trace.check()
        let graph = try OperationGraph(trace)
        let tails = Tails(trace, graph, WaitAnalysis(trace, graph))
        for group in tails.groups {
            #expect(group.reasons.reduce(0) { $0 + $1.time } == group.slowLatency)
        }
        for incident in tails.culprits.flatMap(\.clearest) {
            for slow in [incident.culprit, incident.victim].compactMap(\.self) {
                #expect(slow.reasons.reduce(0) { $0 + $1.time } == slow.end - slow.submit)
            }
        }
        return tails
    }

    // MARK: Causes

    @Test("Each fault of a server is its first culprit, as class and cause, in each half of the trace, too")
    func faults() throws {
        let expected: [ScriptedServer.Fault: (Culprit.Word, String)] = [
            .lock: (.blocked, "Refresh in others likely held what others waited for"),
            .dependency: (.blocked, "Lookup in others was blocked in its body"),
            .limit: (.limit, "the limit 1 of searches"), .neighbour: (.overloaded, Culprit.noProcessor),
            .suspension: (.suspended, "searches was suspended"),
        ]
        for fault in ScriptedServer.Fault.allCases {
            let trace = ScriptedServer(fault).trace
            for part in try [trace] + halves(of: trace) {
                let culprit = try #require(try tails(part).culprits.first, "\(fault)")
                #expect((culprit.word, culprit.name) == expected[fault]!)
            }
        }
        let healthy = ScriptedServer(nil).trace
        for part in try [healthy] + halves(of: healthy) { #expect(try tails(part).culprits == [], "nothing") }
    }

    /// The operations that were submitted in each half of the time.
    private func halves(of trace: SampleTrace) throws -> [SampleTrace] {
        let middle = trace.stop / 2
        return [{ $0 < middle }, { $0 >= middle }].map { (isKept: (TraceTime) -> Bool) in
            var (half, places) = (trace, [Int: UInt32]())
            half.operations = []
            for (index, operation) in trace.operations.enumerated() where isKept(operation.submit) {
                places[index] = UInt32(half.operations.count)
                half.operations.append(operation)
            }
            half.dependencies = trace.dependencies.compactMap {
                guard let before = places[Int($0.predecessor)], let after = places[Int($0.successor)] else {
                    return nil
                }
                return TracedDependency(before, before: after)
            }
            return half
        }
    }

    @Test("The holder of a lock is counted over incidents, and delays classes beyond those it blocks")
    func incidents() throws {
        let culprit = try #require(try tails(ScriptedServer(.lock).trace).culprits.first)
        #expect((culprit.incidents, culprit.runs) == (4, 4))
        #expect(Set(culprit.groups) == ["Search in searches", "Page in pages"])
        #expect(culprit.clearest.count == 2)
        for incident in culprit.clearest {
            #expect(incident.culprit?.name == "Refresh in others")
            #expect(incident.victim.name != "Refresh in others")
        }
    }

    @Test(
        """
        A lock held for 2 ms by one of 1,000 that runs: it likely held it, and its victims hold nothing; by one that
        sleeps, or is itself blocked by what no operation holds: it was blocked, and the others with it
        """,
        arguments: Self.places, [false, true])
    func heldLock(holder: Int, isAsleep: Bool) throws {
        let tails = try tails(heldLock(by: holder, isAsleep: isAsleep))
        let culprit = try #require(tails.culprits.first)
        #expect(
            culprit.name == "operation " + (isAsleep ? "was blocked in its body" : "likely held what others waited for")
        )
        #expect((culprit.incidents, culprit.runs, culprit.delayed) == (1, 1000, isAsleep ? 10 : 9))
        #expect(culprit.clearest.first?.culprit?.operation == holder)
        // Seven wait in their bodies, and two until a worker is free.
        let reasons = try #require(tails.groups.first?.reasons)
        #expect(reasons.prefix(2).map(\.name) == [WaitReason.blocked.words, WaitReason.workers.words])
    }

    @Test(
        "A body that then waits for a processor was blocked by the lock's holder, also if the trace does not tell",
        arguments: Self.places, [0, TraceTime.absent])
    func lateContinuation(holder: Int, wait: Int64) throws {
        var trace = heldLock(by: holder, isAsleep: true)
        for index in holder + 1...holder + 7 {
            trace.operations[index].end += 100_000
            trace.operations[index].offProcessor += 100_000
            trace.operations[index].processorWait = wait == 0 ? 100_000 : wait
        }
        let culprit = try #require(try tails(trace).culprits.first)
        #expect(culprit.clearest.first?.culprit?.operation == holder)
    }

    @Test("A holder that had no processor itself is no culprit: the processors are")
    func preemptedHolder() throws {
        var trace = heldLock(by: 417)
        (trace.operations[417].offProcessor, trace.operations[417].processorWait) = (Self.long - 1, Self.long - 1)
        let tails = try tails(trace)
        #expect(tails.culprits.map(\.name) == [Culprit.noProcessor])
    }

    @Test("One or two coincidences, and ends by chance, make no holder")
    func chance() throws {
        for victims in 1...3 {
            var trace = heldLock(by: 417)
            for index in 418 + victims...424 {
                trace.operations[index].end = trace.operations[index].start + Self.work
                trace.operations[index].offProcessor = 0
            }
            let held = try tails(trace).culprits.filter { $0.name.contains("held") }
            #expect(held.isEmpty == (victims < 3), "\(victims)")
        }
        // Each tenth body sleeps for a while, and some other one mostly ends before it does.
        var random: Int64 = 1
        let sleeping = trace(workers: 64) { number, _ in
            random = (random * 16807) % 2_147_483_647
            return number % 10 == 0 ? (500_000 + random % 1_000_000, 490_000 + random % 1_000_000) : (Self.work, 0)
        }
        #expect(try tails(sleeping).culprits.map(\.name) == ["operation was blocked in its body"])
    }

    @Test("A long body at limit 1, and on the last worker: it ran for long", arguments: Self.places, [nil, 1])
    func longNeighbour(number: Int, limit: Int?) throws {
        let trace = trace(workers: limit == nil ? 1 : 2, limit: limit) { own, _ in
            (own == number ? Self.long : Self.work, 0)
        }
        let tails = try tails(trace)
        #expect(tails.groups[0].reasons.first?.name == (limit == nil ? WaitReason.workers : .limit).words)
        let culprit = try #require(tails.culprits.first)
        #expect((culprit.word, culprit.name, culprit.incidents) == (.stragglers, "operation ran for long", 1))
        #expect(culprit.clearest.first?.culprit?.operation == number)
        // For all of their latency but the bodies of the nine that waited, and what they waited for each other.
        #expect(abs(culprit.delay - (tails.groups[0].slowLatency - 10 * Self.work)) < 9 * 10 * Self.work)
    }

    @Test("A chain of reasons leads through predecessors to what those waited for: dependency, limit, lock")
    func chain() throws {
        // Three requests at a time: a first step at limit 1 behind one that waits for a lock, and a second step.
        var operations: [TracedOperation] = []
        var dependencies: [(UInt32, UInt32)] = []
        for round in 0..<200 {
            let (begin, isHeld) = (TraceTime(round) * 10_000_000, round % 20 == 10)
            let held: Int64 = isHeld ? 5_000_000 : 0
            operations.append(
                TracedOperation(
                    submit: begin, start: begin, end: begin + max(held, 10_000), queue: 2, operationClass: 2))
            var free = begin + 1000
            for number in 0..<3 {
                let first = UInt32(operations.count)
                let wait = number == 0 ? max(0, held - 1000) : 0
                operations.append(
                    TracedOperation(
                        submit: begin + 1000, start: free, end: free + 10_000 + wait, offProcessor: wait, queue: 0,
                        operationClass: 0))
                free += 10_000 + wait
                operations.append(
                    TracedOperation(
                        submit: begin + 1000, ready: free, start: free, end: free + 5000, queue: 1, operationClass: 1))
                dependencies.append((first, first + 1))
            }
        }
        var trace = Fixture.trace(workers: 8, limits: [1, nil, nil], operations, dependencies: dependencies)
        trace.classes = ["First", "Second", "Holder"]
        let tails = try tails(trace)
        let culprit = try #require(tails.culprits.first)
        #expect(culprit.name == "Holder in queue 2 likely held what others waited for")
        // Each of six slow ones of both classes.
        #expect((culprit.incidents, culprit.runs, culprit.delayed) == (6, 200, 12))
        let second = try #require(tails.groups.first { $0.name == "Second in queue 1" })
        #expect(second.reasons.first?.name == WaitReason.dependency.words)
    }

    @Test("Late workers: a wake-up or a processor, as the trace shows, from a millisecond on; bodies that lose it")
    func lateWorkers() throws {
        func late(
            by time: Int64 = Self.long, workers: Int = 4, work: Int64 = Self.work,
            _ change: (inout SampleTrace, Int) -> Void
        ) throws -> String? {
            var trace = trace(workers: workers) { _, _ in (work, 0) }
            for index in stride(from: 100, to: 1000, by: 100) {
                trace.operations[index].start += time
                trace.operations[index].end += time
                change(&trace, index)
            }
            return try tails(trace).culprits.first?.name
        }
        #expect(try late { _, _ in } == "threads were slow to wake up")
        #expect(try late(by: 990_000) { _, _ in } == nil)
        #expect(
            try late { trace, index in
                let operation = trace.operations[index]
                trace.waits?.append(
                    TracedWait(start: operation.submit, end: operation.start, thread: operation.worker))
            } == Culprit.noProcessor)
        #expect(
            try late { trace, index in
                trace.operations[index].start -= Self.long
                (trace.operations[index].offProcessor, trace.operations[index].processorWait) = (Self.long, Self.long)
            } == Culprit.noProcessor)
        // On average more than the usual work, and less.
        #expect(try late(by: 1_500_000, workers: 100, work: 1_200_000) { _, _ in } == "threads were slow to wake up")
        #expect(try late(by: 1_200_000, workers: 100, work: 1_200_000) { _, _ in } == nil)
    }

    @Test("The text names the first cause, and at most four that delay for a tenth of its time or more")
    func shown() throws {
        var tails = try tails(ScriptedServer(.lock).trace)
        let first = try #require(tails.culprits.first)
        tails.culprits = [100, 10, 9, 80, 70, 60, 50].map { (share: Int64) in
            var culprit = first
            culprit.delay = 1000 * share
            return culprit
        }
        #expect(tails.shown.map(\.delay) == [100_000, 10_000, 80_000, 70_000, 60_000])
    }

    // MARK: Figures

    @Test("A group is a class in a queue, and has percentiles by nearest rank, and its three slowest at least")
    func groups() throws {
        var trace = trace(workers: 2) { number, _ in (Int64(number + 1), 0) }
        trace.classes = ["low", "high"]
        for index in stride(from: 0, to: 1000, by: 4) { trace.operations[index].operationClass = 1 }
        let groups = try tails(trace).groups
        #expect(groups.map(\.name) == ["low", "high"])
        #expect(groups.map(\.operations) == [750, 250] && groups.map(\.slow) == [8, 3])
        #expect(groups[1].body == Spread(p50: 497, p90: 897, p99: 989, max: 997))
        #expect(groups[1].wait == Spread(p50: Self.wakeUp, p90: Self.wakeUp, p99: Self.wakeUp, max: Self.wakeUp))
        #expect(groups[1].latency == Spread(p50: 2497, p90: 2897, p99: 2989, max: 2997))
        #expect(abs(groups[1].rate - 250e9 / Double(trace.elapsed)) < 1e-6)
        #expect(try tails(Fixture.trace(workers: 1, [])).groups == [])
    }

    @Test("The lines name the cause, incidents, figures and reasons")
    func text() throws {
        for fault in ScriptedServer.Fault.allCases {
            Golden("tail-report").expect(try tails(ScriptedServer(fault).trace).text, "\(fault)")
        }
        Golden("tail-report").expect(try tails(ScriptedServer(nil).trace).text, "nothing unusual")
    }
}
