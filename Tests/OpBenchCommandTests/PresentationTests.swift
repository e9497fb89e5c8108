import OpBenchModel
import Testing

@testable import OpBenchCommand
@testable import OpBenchRunner

struct QuantitiesTests {
    @Test(arguments: [
        (0.4, "0.40 ns"), (87, "87 ns"), (87.26, "87.3 ns"), (999.4, "999 ns"), (999.6, "1.00 µs"), (1250, "1.25 µs"),
        (40_100_000, "40.1 ms"), (3.2e9, "3.20 s"), (7.2e12, "7200 s"), (0, "0 ns"),
    ])
    func duration(nanoseconds: Double, text: String) {
        #expect(Quantities.duration(nanoseconds: nanoseconds) == text)
    }

    @Test(arguments: [
        (0, "0s"), (0.2, "1s"), (59, "59s"), (60, "1m00s"), (125, "2m05s"), (3720, "1h02m"), (.infinity, "100000h00m"),
    ])
    func wait(seconds: Double, text: String) {
        #expect(Quantities.wait(seconds: seconds) == text)
    }

    @Test func others() {
        #expect(Quantities.bytes(96) == "96 B")
        #expect(Quantities.bytes(1240) == "1.21 KiB")
        #expect(Quantities.count(0.0004) == "0")
        #expect(Quantities.count(0.0123) == "0.012")
        #expect(Quantities.count(14.31) == "14.3")
        #expect(Quantities.count(1_234_567) == "1.23M")
        #expect(Quantities.ratio(0.614) == "0.61×")
        #expect(Quantities.ratio(154.3) == "154×")
    }

    @Test(
        "an interval is shown as it is, however far its ends are from the figure",
        arguments: [
            (279.2, 531.6, 297, "−6 % +79 %"), (97, 103, 100, "−3 % +3 %"), (93.17, 100.44, 100, "−6.8 % +0.4 %"),
            (100, 100.02, 100, "0 % 0 %"), (10, 2600, 100, "−90 % +2500 %"), (90.02, 109.96, 100, "−10 % +10 %"),
            (101, 102, 100, "+1 % +2 %"), (1, 2, 0, "-"),
        ])
    func interval(low: Double, high: Double, figure: Double, text: String) {
        #expect(Quantities.interval(low: low, high: high, around: figure) == text)
    }

    @Test(
        "what the clock cannot tell from none is not printed as none",
        arguments: [(0, 23, "< 23 ns"), (22.9, 23, "< 23 ns"), (23, 23, "23 ns"), (0, 1, "< 1 ns"), (1, 1, "1 ns")])
    func resolution(nanoseconds: Double, resolution: Double, text: String) {
        #expect(Quantities.time(nanoseconds: nanoseconds, resolution: resolution) == text)
    }
}

struct TimeLeftTests {
    @Test("the plan's estimate counts first, the samples' own pace later")
    func pace() {
        let left = TimeLeft(total: 100, estimatedSeconds: 200)
        #expect(left.seconds(done: 0, elapsed: 0) == 200)
        // One tenth took 40 s, so that the rest will take 360 s.
        #expect(left.seconds(done: 10, elapsed: 40) == 360)
        #expect((190...400).contains(left.seconds(done: 5, elapsed: 20)))
        #expect(left.seconds(done: 100, elapsed: 300) == 0)
    }
}

struct ProgressTests {
    private final class Screen {
        var text = ""
    }

    private func show(_ style: ProgressDisplay.Style, width: Int = 200) -> String {
        let screen = Screen()
        var display = ProgressDisplay(style: style, write: { screen.text += $0 }, width: { width })
        display.handle(.started(total: 4, estimatedSeconds: 8))
        display.handle(.calibrating)
        for index in 0..<4 {
            display.handle(
                .sampleStarted(index: index, total: 4, cellID: "w depth=2", backend: .engine, kind: .latency, block: 0))
            if index == 2 { display.handle(.warning("it is noisy")) }
            display.handle(.sampleFinished(index: index, status: .ok, rows: []))
            display.handle(.rowsSaved)
        }
        display.handle(.finished(RunOutcome(folder: "results/r", samplesTaken: 4, isCancelled: false)))
        return screen.text
    }

    @Test func plainLines() {
        #expect(
            show(.lines) == """
                opbench: 4 samples, about 8s
                opbench: 0/4 done, 8s left; now engine latency, w depth=2
                opbench: warning: it is noisy
                opbench: 4 of 4 samples in 1s

                """)
    }

    @Test("a warning about a short budget comes before the first sample; a finished run is left alone, and it says so")
    func before() {
        let screen = Screen()
        var display = ProgressDisplay(style: .lines, write: { screen.text += $0 }, width: { 200 })
        display.handle(.started(total: 4, estimatedSeconds: 53))
        display.handle(.budgetIsShort(budgetSeconds: 5, estimatedSeconds: 53))
        display.handle(
            .finished(RunOutcome(folder: "r", samplesTaken: 0, isCancelled: false, wasFinished: true)))
        #expect(
            screen.text == """
                opbench: 4 samples, about 53s
                opbench: warning: the first blocks of all cells take about 53s, longer than the budget of 5s; opbench takes them anyway
                opbench: the run is finished; nothing is measured and no file changes

                """)
    }

    @Test("the bar is one line that is erased before anything else is written")
    func bar() {
        let text = show(.bar)
        let clear = "\r\u{1B}[2K"
        #expect(text.contains(clear + "[....................] 0/4 8s left  engine latency, w depth=2"))
        #expect(text.contains(clear + "[##########..........] 2/4"))
        #expect(text.contains(clear + "opbench: warning: it is noisy\n"))
        #expect(text.hasSuffix(clear + "opbench: 4 of 4 samples in 1s\n"))
    }

    @Test func barFitsTheTerminal() {
        for line in show(.bar, width: 40).split(whereSeparator: { $0 == "\n" || $0 == "\r" }) where line.contains("[#")
        {
            #expect(line.dropFirst("\u{1B}[2K".count).count < 40)
        }
    }

    @Test func silent() {
        #expect(show(.silent) == "opbench: warning: it is noisy\n")
    }
}

struct SummaryTableTests {
    private func row(_ backend: BackendID, ratio: Double? = nil) -> SummaryRow {
        var row = SummaryRow(
            runID: "r", workload: "w", cellID: "w", backend: backend, status: .ok, samples: 7, parameters: [:])
        row.timeRatio = ratio
        row.ratioTo = ratio.map { _ in .dispatch }
        return row
    }

    private func notes(_ rows: SummaryRow...) -> [Substring] {
        SummaryNotes(rows: rows, clockResolution: 23).text.split(separator: "\n")
    }

    @Test("a note stands under the table where the rows give occasion to it, and nowhere else")
    func notes() {
        #expect(notes(row(.dispatch)) == [])
        var rate = row(.dispatch, ratio: 1)
        rate.operationsPerSecondLow = 1
        #expect(notes(rate).map { $0.prefix(8) } == ["time/op:"])
        #expect(notes(row(.engine, ratio: 0.5)).map { $0.prefix(12) } == ["vs dispatch:"])

        var start = row(.engine)
        start.startLatencyP50 = 23
        #expect(notes(start).map { $0.prefix(6) } == ["start:"])
        start.startLatencyP99 = 0
        #expect(notes(start).map { $0.prefix(8) } == ["start: f", "< 23 ns:"])
        start.startLatencyP99 = nil
        start.startLatencyP50 = 22
        #expect(notes(start).count == 2)

        #expect(notes(row(.serial, ratio: 0.9)).count == 1)
        #expect(notes(row(.serial, ratio: 1.9)).map { $0.prefix(7) } == ["vs disp", "serial:"])
        #expect(notes(row(.engine, ratio: 1.9)).count == 1)
    }

    // swift-format-ignore
    @Test func table() {
        var engine = SummaryRow(
            runID: "r", workload: "w", cellID: "w chains=3 depth=2", backend: .engine, status: .ok, samples: 7,
            parameters: ["depth": "2", "chains": "3"])
        engine.operationsPerSecond = 5e6
        engine.operationsPerSecondLow = 2.8e6
        engine.operationsPerSecondHigh = 5.3e6
        engine.timeRatio = 0.5
        engine.timeRatioLow = 0.48
        engine.timeRatioHigh = 0.53
        engine.ratioTo = .dispatch
        engine.startLatencyP50 = 0
        engine.startLatencyP99 = 40_000
        engine.allocationsPerOperation = 2
        engine.retainedBytesPerPendingOperation = 176
        var dispatch = SummaryRow(
            runID: "r", workload: "w", cellID: "w chains=3 depth=2", backend: .dispatch, status: .ok, samples: 7,
            parameters: ["depth": "2", "chains": "3"])
        dispatch.operationsPerSecond = 2.5e6
        dispatch.ratioTo = .dispatch
        dispatch.timeRatio = 1
        dispatch.timeRatioLow = 1
        dispatch.timeRatioHigh = 1
        let late = SummaryRow(
            runID: "r", workload: "w", cellID: "w chains=3", backend: .foundation, status: .timeout, samples: 0,
            parameters: ["depth": "10", "chains": "3"])
        #expect(
            SummaryTable.text(of: [engine, dispatch, late], clockResolution: 23) == """
                w chains=3
                cell      backend     time/op  95 % interval  vs dispatch  95 % interval  start p50  start p99  allocs/op  held/pending  status
                --------  ----------  -------  -------------  -----------  -------------  ---------  ---------  ---------  ------------  -------
                depth=2   engine       200 ns   −5.7 % +79 %        0.50×  0.48× – 0.53×    < 23 ns      40 µs          2         176 B  ok
                          dispatch     400 ns              -        1.00×              -          -          -          -             -  ok
                depth=10  foundation        -              -            -              -          -          -          -             -  timeout

                time/op: the median of the samples; its 95 % interval as parts of it.
                vs dispatch: the middle of the ratios within each block, where drift hits both alike; not the quotient of the times in this table.
                start: from ready to the operation's first line. Where more operations are ready than can run, this is mostly the wait behind the others (backlog).
                < 23 ns: started before its submitting call had returned, or too soon after it for the clock to tell.

                """)
    }
}
