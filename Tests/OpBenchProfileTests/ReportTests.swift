import Testing

@testable import OpBenchProfile

@Suite("Reports")
struct ReportTests {
    @Test("Figures as people read them")
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

    @Test("The summary of a diamond, word by word")
    func diamond() throws {
        var trace = Fixture.diamond
        trace.classes = ["node"]
        for index in trace.operations.indices { trace.operations[index].planned = 9 }
        #expect(
            try TraceReport(trace).lines() == [
                "4 operations in 35 ns, 2 workers",
                "work 45 ns (planned 36 ns), span 35 ns (planned 27 ns) over 3 operations, parallelism 1.29",
                "burdened span 35 ns at 0 ns an operation, parallelism 1.29",
                "ran 1.29 at once; bodies took 64.3 % of the workers' time",
                "no schedule takes less than 35 ns, a greedy one at most 40 ns; scheduling efficiency 100.0 %",
                "waits of all operations, 50 ns: dependency 100.0 %",
                "critical path: 3 operations, 35 ns in bodies, 0 ns waiting",
                "  operation 1 (node): 20 ns after 0 ns",
                "  operation 0 (node): 10 ns after 0 ns",
                "  operation 3 (node): 5 ns after 0 ns",
                "what if twice the workers (4): 35 ns → 35 ns, 1.00× as fast, if nothing but bodies took time",
                "what if operation 1 (node) in no time: 35 ns → 25 ns, 1.40× as fast, if nothing but bodies took time",
                "what if all submitted at the beginning but what operations submit: 35 ns → 35 ns, 1.00× as fast, "
                    + "if nothing but bodies took time",
            ])
    }

    @Test("The summary names the inversion, the starved one and what the limit costs")
    func priorities() throws {
        let lines = try TraceReport(Fixture.inversion, tolerance: 0).lines()
        #expect(
            lines.contains(
                "priority inversions: 1 of 3 starts, 10 ns of delay; worst: operation 1 (operation, priority 0) before 2 "
                    + "(operation, priority 4) at 10 ns, 10 ns"))
        #expect(
            lines.contains(
                "longest starvation: operation 2 (operation), 19 ns, overtaken by 0 of its queue"))
        let limited = try TraceReport(Fixture.limitOne).lines()
        #expect(
            limited.contains(
                "what if queues without limits: 30 ns → 20 ns, 1.50× as fast, if nothing but bodies took time"))
        #expect(limited.contains("waits of the critical path, 22 ns: limit 90.9 %, wake-up 9.1 %"))
    }

    @Test("The summary of a trace with everything, and of one with nothing")
    func everything() throws {
        let lines = try TraceReport(Fixture.everything).lines()
        #expect(lines.contains("3 more were lost: figures are of those that were kept"))
        #expect(lines.contains("threads parked 2 times and were woken 2 times, 1 of them in vain"))
        #expect(lines.contains("most often: engine normal 2 woke engine normal 1, 1×, at worst 1 ns late"))
        #expect(try TraceReport(Fixture.trace(workers: 1, [])).lines() == ["no operation was executed"])
        let one = try TraceReport(Fixture.trace(workers: 1, [TracedOperation(submit: 0, start: 1, end: 3)])).lines()
        #expect(one.first == "1 operation in 3 ns, 1 worker")
        #expect(one.contains { $0.hasPrefix("critical path: 1 operation, ") })
        var broken = Fixture.chain
        broken.operations[0].end = -1
        #expect(throws: TraceError.self) { try TraceReport(broken) }
    }
}
