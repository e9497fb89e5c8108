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
        #expect(Quantities.ratioInterval(0.744, 1.09) == "0.74–1.09")
        #expect(Quantities.ratioInterval(45.44, 129.4) == "45.4–129")
        #expect(Quantities.fineRatioInterval(0.002411, 0.45) == "0.00241–0.45")
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

    @Test(
        "in judged tables too: a time of single operations is never less than the clock tells, a mean over many may be",
        arguments: [
            (0, "start_latency", "< 1 µs"), (200, "start_latency", "< 1 µs"), (2000, "start_latency", "2 µs"),
            (200, "time", "200 ns"), (0, "cpu_time", "< 1 µs"), (0, "allocations", "0"),
            (0, "retained_bytes", "0 B"),
        ])
    func figures(value: Double, metric: String, text: String) {
        #expect(Quantities.figure(value, of: metric, resolution: 1000) == text)
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
