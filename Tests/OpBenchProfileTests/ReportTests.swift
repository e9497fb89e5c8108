import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Reports")
struct ReportTests {
    @Test("The summary of a diamond")
    func diamond() throws {
        var trace = Fixture.diamond
        trace.classes = ["node"]
        for index in trace.operations.indices { trace.operations[index].planned = 9 }
        try expectGolden(trace, "diamond")
    }

    private func expectGolden(_ trace: SampleTrace, _ section: String) throws {
        let lines = try TraceReport(trace).lines()
        Golden("trace-report").expect(lines.joined(separator: "\n"), section)
    }

    @Test("The summary names the starved operation and the cost of the limit")
    func priorities() throws {
        try expectGolden(Fixture.inversion, "inversion")
        try expectGolden(Fixture.limitOne, "a queue's limit")
    }

    @Test("The summaries of a trace with everything, and of an empty one")
    func everything() throws {
        try expectGolden(Fixture.everything, "everything")
        try expectGolden(Fixture.trace(workers: 1, []), "nothing")
        try expectGolden(Fixture.trace(workers: 1, [TracedOperation(submit: 0, start: 1, end: 3)]), "one operation")
        var broken = Fixture.chain
        broken.operations[0].end = -1
        #expect(throws: RecordError.self) { try TraceReport(broken) }
    }
}
