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
    ///   - late: the operation whose worker begins 2 ms late.
    ///   - body: the body's time from start to end and the part for which it is blocked, by number and start.
    private func trace(
        workers: Int, limit: Int? = nil, late: Int? = nil,
        body: (Int, TraceTime) -> (elapsed: Int64, blocked: Int64) = { _, _ in (Self.work, 0) }
    ) -> SampleTrace {
        var free = [TraceTime](repeating: 0, count: min(limit ?? workers, workers))
        let operations = (0..<1000).map { number in
            let submit = Int64(number) * Self.interval
            let worker = free.indices.min { free[$0] < free[$1] }!
            let start = max(submit + (number == late ? Self.long : Self.wakeUp), free[worker])
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

    private func tail(_ trace: SampleTrace) throws -> Tail {
        try trace.check()
        let graph = try OperationGraph(trace)
        let tails = Tails(trace, graph, WaitAnalysis(trace, graph))
        #expect(tails.classes.count == 1)
        return tails.classes[0]
    }

    private func expectSums(_ tail: Tail) {
        #expect(tail.reasons.reduce(0) { $0 + $1.time } == tail.latency)
        for slow in tail.slowest {
            #expect(slow.reasons.reduce(0) { $0 + $1.time } == slow.end - slow.submit)
            let times = [slow.submit, slow.ready, slow.chosen, slow.start, slow.end]
            #expect(times == times.sorted())
        }
    }

    @Test("A lock held for 2 ms by one of 1,000: blocked bodies, and its holder", arguments: Self.places)
    func heldLock(holder: Int) throws {
        let tail = try tail(heldLock(by: holder))
        expectSums(tail)
        #expect((tail.operations, tail.slow, tail.median) == (1000, 10, Self.work + Self.wakeUp))
        #expect(tail.slowest.map(\.operation) == Array(holder..<holder + 10))
        // Seven wait in their bodies, and two until a worker is free.
        #expect(
            tail.reasons == [
                NamedTime(WaitReason.blocked.words, 13_440_000), NamedTime(WaitReason.workers.words, 3_674_000),
                NamedTime(Tails.body, 2_090_000), NamedTime(WaitReason.wakeUp.words, 16_000),
            ])
        let culprit = try #require(tail.culprits.first)
        #expect(tail.culprits.count == 1)
        #expect((culprit.name, culprit.took) == ("operation \(holder)", Self.long))
        #expect((culprit.reason, culprit.delay, culprit.delayed) == (WaitReason.blocked.words, 19_104_000, 10))
        #expect(culprit.thread == tail.slowest.first?.thread && culprit.thread?.hasPrefix("worker ") == true)
        #expect(tail.slowest.allSatisfy { $0.culprit == culprit.name })
    }

    @Test("The holder of a lock may sleep itself", arguments: Self.places)
    func sleepingHolder(holder: Int) throws {
        let culprit = try #require(try tail(heldLock(by: holder, isAsleep: true)).culprits.first)
        // It is the cause of its own sleep, too.
        #expect((culprit.name, culprit.delay, culprit.delayed) == ("operation \(holder)", 19_104_000, 10))
        #expect(culprit.waits == [NamedTime(WaitReason.blocked.words, Self.long)])
    }

    @Test(
        "A body that then waits for a processor was blocked by the lock's holder, also if the trace does not tell",
        arguments: Self.places, [WaitReason.blocked, .blockedOrProcessor])
    func lateContinuation(holder: Int, reason: WaitReason) throws {
        var trace = heldLock(by: holder, isAsleep: true)
        trace.operations = Array(trace.operations[...(holder + 7)])
        for index in holder + 1...holder + 7 {
            trace.operations[index].end += 600_000
            trace.operations[index].offProcessor += 600_000
            trace.operations[index].processorWait = reason == .blocked ? 600_000 : .absent
        }
        let culprit = try #require(try tail(trace).culprits.first)
        #expect((culprit.name, culprit.reason) == ("operation \(holder)", reason.words))
    }

    @Test("A long neighbour at limit 1: the limit, and the neighbour", arguments: Self.places)
    func longNeighbour(number: Int) throws {
        let trace = trace(workers: 2, limit: 1) { own, _ in (own == number ? Self.long : Self.work, 0) }
        let tail = try tail(trace)
        expectSums(tail)
        #expect(tail.slowest.map(\.operation) == Array(number..<number + 10))
        #expect(tail.reasons.first == NamedTime(WaitReason.limit.words, 17_478_000))
        let culprit = try #require(tail.culprits.first)
        #expect(tail.culprits.count == 1)
        #expect((culprit.name, culprit.took) == ("operation \(number)", Self.long))
        #expect((culprit.reason, culprit.delay, culprit.delayed) == (WaitReason.limit.words, 19_118_000, 10))
        #expect(tail.slowest[1].meanwhile == [NamedTime(culprit.name, Self.long - Self.interval + Self.wakeUp)])
    }

    /// The trace in which one operation's worker is woken 1.95 ms late, and begins 50 µs after that.
    private func lateWakeUp(of number: Int) -> SampleTrace {
        var trace = trace(workers: 2, late: number)
        let (worker, submit) = (trace.operations[number].worker, trace.operations[number].submit)
        trace.threadEvents = [
            TracedThreadEvent(time: submit - 5000, thread: worker, kind: .park),
            TracedThreadEvent(time: submit + 1_950_000, thread: 2, kind: .wake, other: worker),
            TracedThreadEvent(time: submit + 1_990_000, thread: worker, kind: .unpark, other: 2),
        ]
        return trace
    }

    @Test("A late wake-up: the wake-up, and the worker", arguments: Self.places)
    func lateWakeUp(number: Int) throws {
        let trace = lateWakeUp(of: number)
        let tail = try tail(trace)
        expectSums(tail)
        let slowest = try #require(tail.slowest.first)
        #expect(slowest.operation == number)
        #expect(slowest.chosen - slowest.submit == 1_990_000)
        #expect(slowest.meanwhile == [NamedTime("asleep", 1_990_000)])
        // With the first operations of both workers.
        #expect(tail.reasons.first == NamedTime(WaitReason.wakeUp.words, Self.long + 2 * Self.wakeUp))
        let culprit = try #require(tail.culprits.first)
        #expect(culprit.name == trace.threads[Int(trace.operations[number].worker)].name)
        #expect((culprit.kind, culprit.took, culprit.delay) == ("worker", Self.long, Self.long + Self.wakeUp))
        #expect(culprit.note?.contains("submitter 1 1.95 ms") == true)
    }

    @Test("A woken worker in the run queue is late for want of a processor; the trace may not tell")
    func noProcessor() throws {
        var trace = lateWakeUp(of: 500)
        let (worker, submit) = (trace.operations[500].worker, trace.operations[500].submit)
        // It is woken 10 µs after the submission, and gets a processor 1.9 ms later.
        trace.threadEvents[1].time = submit + 10_000
        trace.waits = [TracedWait(start: submit + 11_000, end: submit + 1_911_000, thread: worker)]
        let told = try tail(trace)
        expectSums(told)
        #expect(
            told.slowest.first?.reasons == [
                NamedTime(WaitReason.processor.words, 1_900_000), NamedTime(WaitReason.wakeUp.words, 100_000),
                NamedTime(Tails.body, Self.work),
            ])
        #expect(told.culprits.first?.reason == WaitReason.processor.words)
        #expect(told.culprits.first?.kind == "worker" && told.slowest.first?.culprit == told.culprits.first?.name)
        trace.waits = nil
        let untold = try tail(trace)
        #expect(untold.slowest.first?.reasons.first == NamedTime(WaitReason.wakeUpOrProcessor.words, Self.long))
        #expect(untold.culprits.first?.reason == WaitReason.wakeUpOrProcessor.words)
    }

    @Test("If the worker that is woken comes late, and another one takes the operation, the first is the culprit")
    func rescued() throws {
        var trace = trace(workers: 2)
        // Operation 500 waits while its worker takes 2 ms for the one before, and the other does not wake up.
        let own = trace.operations[500].worker
        let submit = trace.operations[500].submit
        trace.operations = Array(trace.operations[..<501])
        trace.operations[498].end = submit + Self.long
        (trace.operations[500].start, trace.operations[500].end) = (submit + Self.long, submit + Self.long + Self.work)
        trace.threadEvents = [
            TracedThreadEvent(time: submit - 5000, thread: 1 - own, kind: .park),
            TracedThreadEvent(time: submit, thread: 2, kind: .wake, other: 1 - own),
            TracedThreadEvent(time: submit + 3_000_000, thread: 1 - own, kind: .unpark, other: 2),
        ]
        trace.stop = submit + 3_000_000
        let tail = try tail(trace)
        let slowest = try #require(tail.slowest.first { $0.operation == 500 })
        #expect(slowest.reasons.first?.name == WaitReason.wakeUp.words)
        #expect(slowest.culprit == trace.threads[Int(1 - own)].name)
    }

    @Test("A body that loses its processor alone has no culprit")
    func preemption() throws {
        var trace = trace(workers: 8) { number, _ in
            number == 500 ? (Self.long, Self.long - Self.work) : (Self.work, 0)
        }
        trace.operations[500].processorWait = trace.operations[500].offProcessor
        let tail = try tail(trace)
        #expect(tail.reasons.first?.name == WaitReason.processor.words)
        #expect(tail.slowest.first?.operation == 500)
        #expect(tail.culprits.filter { $0.reason != Tails.body } == [])
    }

    @Test("Predecessors, a suspended queue and urgent operations are culprits")
    func others() throws {
        let chain = try tail(Fixture.chain)
        // The last of them waits for both others, and for 1 ns of neither.
        #expect(chain.slowest.first?.operation == 2 && chain.reasons.first == NamedTime("dependency", 23))
        #expect(chain.culprits.map(\.name) == ["operation 0", "operation 1", "operation 2"])
        #expect(chain.culprits.map(\.delay) == [10, 10, 10])

        let suspended = try tail(Fixture.suspension)
        #expect(suspended.reasons.first == NamedTime("suspension", 20))
        #expect(suspended.culprits.first.map { [$0.name, $0.kind] } == ["queue 0", "queue"])

        for limit in [nil, 1] {
            let overtaken = try tail(Fixture.twoPriorities(limit: limit))
            #expect(overtaken.slowest.first?.operation == 1)
            let culprit = try #require(overtaken.culprits.first { $0.name == "operation 2" })
            #expect((culprit.reason, culprit.delay) == (WaitReason.priority.words, 10))
        }
        // The last operation waits for the barrier.
        let barrier = try tail(Fixture.barrier)
        #expect(barrier.slowest.first?.operation == 3 && barrier.reasons.first?.name == "barrier")
        #expect(barrier.culprits.first?.name == "operation 1")
    }

    @Test("Each class has its own slowest operations; nothing has none")
    func classes() throws {
        var trace = trace(workers: 2)
        trace.classes = ["low", "high"]
        for index in stride(from: 0, to: 1000, by: 4) { trace.operations[index].operationClass = 1 }
        let graph = try OperationGraph(trace)
        let tails = Tails(trace, graph, WaitAnalysis(trace, graph))
        #expect(tails.classes.map(\.operationClass) == ["low", "high"])
        #expect(tails.classes.map(\.operations) == [750, 250] && tails.classes.map(\.slow) == [8, 3])
        let empty = Fixture.trace(workers: 1, [])
        let none = try OperationGraph(empty)
        #expect(Tails(empty, none, WaitAnalysis(empty, none)).classes == [])
    }

    @Test("The lines name reasons, culprits and timelines")
    func text() throws {
        let traces = [
            ("a held lock", heldLock(by: 417)), ("a late wake-up", lateWakeUp(of: 417)),
            ("a long neighbour", trace(workers: 2, limit: 1) { own, _ in (own == 417 ? Self.long : Self.work, 0) }),
            ("nothing unusual", trace(workers: 2)),
        ]
        for (section, trace) in traces {
            let graph = try OperationGraph(trace)
            Golden("tail-report").expect(Tails(trace, graph, WaitAnalysis(trace, graph)).text, section)
        }
    }
}
