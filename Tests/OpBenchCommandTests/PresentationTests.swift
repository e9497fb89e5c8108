import OpBenchModel
import Testing

@testable import OpBenchRunner
@testable import opbench

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
        #expect(Quantities.spread(low: 97, high: 103, around: 100) == "±3.0%")
        #expect(Quantities.spread(low: 50, high: 150, around: 100) == "±50%")
        #expect(Quantities.spread(low: nil, high: 150, around: 100) == "")
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
    // swift-format-ignore
    @Test func table() {
        var engine = SummaryRow(
            runID: "r", workload: "w", cellID: "w chains=3 depth=2", backend: .engine, status: .ok, samples: 7,
            parameters: ["depth": "2", "chains": "3"])
        engine.operationsPerSecond = 5e6
        engine.operationsPerSecondLow = 4.9e6
        engine.operationsPerSecondHigh = 5.1e6
        engine.timeRatio = 0.5
        engine.timeRatioLow = 0.48
        engine.timeRatioHigh = 0.53
        engine.ratioTo = .dispatch
        engine.startLatencyP50 = 1250
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
            SummaryTable.text(of: [engine, dispatch, late]) == """
                w chains=3
                cell      backend     time/op         vs dispatch  95 % interval  start p50  start p99  allocs/op  held/pending  status
                --------  ----------  -------  -----  -----------  -------------  ---------  ---------  ---------  ------------  -------
                depth=2   engine       200 ns  ±2.0%        0.50×  0.48× – 0.53×    1.25 µs      40 µs          2         176 B  ok
                          dispatch     400 ns      -        1.00×              -          -          -          -             -  ok
                depth=10  foundation        -      -            -              -          -          -          -             -  timeout

                """)
    }
}
