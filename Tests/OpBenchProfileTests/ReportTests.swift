import TestSupport
import Testing

@testable import OpBenchProfile

@Suite("Reports")
struct ReportTests {
    @Test("Figures in readable units")
    func figures() {
        #expect(ProfileText.time(Int64(0)) == "0 ns")
        #expect(ProfileText.time(Int64(999)) == "999 ns")
        #expect(ProfileText.time(Int64(1000)) == "1.00 µs")
        #expect(ProfileText.time(Int64(999_600)) == "1.00 ms")
        #expect(ProfileText.time(Int64(31_415)) == "31.4 µs")
        #expect(ProfileText.time(Int64(-2_500_000_000)) == "−2.50 s")
        #expect(ProfileText.time(12.5) == "12.5 ns")
        #expect(ProfileText.time(Int64.max) == "9223372037 s")
        #expect(ProfileText.time(Double.nan) == "–")
        #expect(ProfileText.bytes(1536) == "1.50 KiB")
        #expect(ProfileText.count(1_234_567) == "1,234,567")
        #expect(ProfileText.count(0.25) == "0.25")
        #expect(ProfileText.count(-1000) == "−1,000")
        #expect(ProfileText.share(1, of: 3) == "33.3 %")
        #expect(ProfileText.share(1, of: 0) == "–")
        #expect(ProfileText.fixed(0.04, decimals: 1) == "0.0")
        #expect(ProfileText.fixed(-0.04, decimals: 1) == "0.0")
        #expect(ProfileText.fixed(9.999, decimals: 2) == "10.00")
    }

    @Test("The summary of a diamond")
    func diamond() throws {
        var trace = Fixture.diamond
        trace.classes = ["node"]
        for index in trace.operations.indices { trace.operations[index].planned = 9 }
        try expectGolden(trace, "diamond")
    }

    private func expectGolden(_ trace: SampleTrace, tolerance: Int64 = 10_000, _ section: String) throws {
        let lines = try TraceReport(trace, tolerance: tolerance).lines()
        Golden("trace-report").expect(lines.joined(separator: "\n"), section)
    }

    @Test("The summary names the inversion, the starved operation and the cost of the limit")
    func priorities() throws {
        try expectGolden(Fixture.inversion, tolerance: 0, "inversion")
        try expectGolden(Fixture.limitOne, "a queue's limit")
    }

    @Test("The summaries of a trace with everything, and of an empty one")
    func everything() throws {
        try expectGolden(Fixture.everything, "everything")
        try expectGolden(Fixture.trace(workers: 1, []), "nothing")
        try expectGolden(Fixture.trace(workers: 1, [TracedOperation(submit: 0, start: 1, end: 3)]), "one operation")
        var broken = Fixture.chain
        broken.operations[0].end = -1
        #expect(throws: TraceError.self) { try TraceReport(broken) }
    }
}
