import OpBenchModel
import OpBenchProfile
import TestSupport
import Testing

@testable import OpBenchBackends
@testable import OpBenchRunner

@Suite("Traces of a round", .serialized, .onOwnThreads) struct TraceBuilderTests {
    /// A trace of a round by the serial loop, whose library told of such events.
    private func trace(_ events: [ThreadEvent.Kind: (thread: Int32, other: Int32?)]) throws -> SampleTrace {
        let plan = try Fixture.plan("independent", #"{"items": 5, "work_ns": 0}"#)
        let factory = try #require(BackendFactory.named(.serial))
        let body = OperationBody(plan: plan, kernel: Fixture.kernel, mode: .traced)
        let producers = Producers(plan)
        let builder = TraceBuilder(plan, backend: .serial)
        let round = Round.run(plan, by: factory, body, producers: producers)
        builder.add(round, body, of: plan, phase: "")
        builder.threadEvents = events.map { kind, event in
            ThreadEvent(kind, time: round.built, thread: event.thread, other: event.other)
        }
        producers.dismiss()
        body.deallocate()
        return try builder.finish()
    }

    @Test func `who is woken is a worker, also one that did nothing else; who wakes need be none`() throws {
        let (waker, woken) = (Int32.max - 1, Int32.max - 2)
        let trace = try trace([.wake: (waker, woken)])
        func role(_ id: Int32) -> SampleTrace.Thread.Role? { trace.threads.first { $0.id == id }?.role }
        #expect(role(woken) == .worker)
        #expect(role(waker) == .submitter)
        #expect(trace.threadEvents.map(\.kind) == [.wake])
    }

    @Test func `who parks or is unparked is a worker, who unparked it need be none`() throws {
        let (waker, worker) = (Int32.max - 1, Int32.max - 2)
        let trace = try trace([.unpark: (worker, waker)])
        func role(_ id: Int32) -> SampleTrace.Thread.Role? { trace.threads.first { $0.id == id }?.role }
        #expect(role(worker) == .worker)
        #expect(role(waker) == .submitter)
    }
}
