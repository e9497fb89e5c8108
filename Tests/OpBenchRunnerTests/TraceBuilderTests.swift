import OpBenchModel
import OpBenchProfile
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite("Traces of a round", .serialized, .onOwnThreads) struct TraceBuilderTests {
    /// A trace of a round by a serial loop, with these library events and without stamps.
    private func trace(_ events: [ThreadStep: (thread: Int32, other: Int32?)]) throws -> SampleTrace {
        try trace(of: try Fixture.plan("independent", #"{"items": 5, "work_ns": 0}"#), by: .serial, events)
    }

    private func trace(
        of plan: WorkloadPlan, by backend: BackendID,
        _ events: [ThreadStep: (thread: Int32, other: Int32?)] = [:],
        waits: (Round) -> [RunQueue.Wait]? = { _ in [] }
    ) throws -> SampleTrace {
        let factory = try #require(BackendFactory.named(backend))
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .traced)
        let producers = Producers(plan)
        let builder = TraceBuilder(plan, backend: backend)
        let round = Round.run(plan, by: factory, body, producers: producers)
        builder.add(round, body)
        builder.threadEvents = events.map { kind, event in
            ThreadEvent(kind, time: round.built, thread: event.thread, other: event.other)
        }
        builder.waits = waits(round)
        producers.dismiss()
        body.deallocate()
        return try builder.finish()
    }

    @Test func `a woken thread is a worker, even if it did nothing else; a waking thread may be none`() throws {
        let (waker, woken) = (Int32.max - 1, Int32.max - 2)
        let trace = try trace([.wake: (waker, woken)])
        func role(_ id: Int32) -> SampleTrace.Thread.Role? { trace.threads.first { $0.id == id }?.role }
        #expect(role(woken) == .worker)
        #expect(role(waker) == .submitter)
        #expect(trace.threadEvents.map(\.kind) == [.wake])
    }

    @Test func `a body has its planned time, and its own time does not exceed the elapsed time`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 7, "items_per_operation": 3, "work_ns": 1000}"#)
        let trace = try trace(of: plan, by: .dispatch)
        #expect(trace.operations.map(\.planned) == [3000, 3000, 1000])
        for operation in trace.operations { #expect((0...operation.elapsed).contains(operation.duration)) }
    }

    @Test func `a body that sleeps is blocked, and does not wait for a processor meanwhile`() throws {
        let plan = try Fixture.plan("blocking", #"{"operations": 4, "block_ns": 1000000}"#)
        for operation in try trace(of: plan, by: .dispatch).operations {
            #expect(operation.planned == 1_000_000)
            #expect(operation.duration >= 1_000_000 && operation.blocked > 0)
            #expect((operation.processorWait == .absent) == !RunQueue.isCounted)
        }
        let waiting = try Fixture.plan("blocking", #"{"operations": 3, "kind": "wait", "block_ns": 1000}"#)
        #expect((0..<3).map(waiting.plannedNanoseconds) == [nil, 1000, 1000])
    }

    @Test func `a thread that waits for a processor in the round is a worker; the kernel may count no waits`() throws {
        let plan = try Fixture.plan("independent", #"{"items": 5, "work_ns": 0}"#)
        let thread = Int32.max - 1
        let trace = try trace(of: plan, by: .serial) { round in
            [
                RunQueue.Wait(thread: thread, begin: round.begun - 5, end: round.begun + 1),
                RunQueue.Wait(thread: thread, begin: round.begun - 9, end: round.begun),
                RunQueue.Wait(thread: thread, begin: round.drained, end: round.drained + 9),
            ]
        }
        let place = try #require(trace.threads.firstIndex { $0.id == thread })
        #expect(trace.threads[place].role == .worker)
        #expect(trace.waits == [TracedWait(start: -5, end: 1, thread: UInt16(place))])
        #expect(try self.trace(of: plan, by: .serial, waits: { _ in nil }).waits == nil)
    }

    @Test func `threads that park or are unparked are workers; a thread that unparks may be none`() throws {
        let (waker, worker) = (Int32.max - 1, Int32.max - 2)
        let trace = try trace([.unpark: (worker, waker)])
        func role(_ id: Int32) -> SampleTrace.Thread.Role? { trace.threads.first { $0.id == id }?.role }
        #expect(role(worker) == .worker)
        #expect(role(waker) == .submitter)
    }
}
