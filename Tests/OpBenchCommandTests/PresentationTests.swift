import OpBenchModel
import TestSupport
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
        (0, "0 s"), (0.2, "1 s"), (59, "59 s"), (59.5, "1 min 0 s"), (125, "2 min 5 s"), (3600, "1 h 0 min"),
        (3720, "1 h 2 min"), (3721, "1 h 3 min"), (86_340, "23 h 59 min"), (86_341, "1 d 0 h"), (86_400, "1 d 0 h"),
        (93_600, "1 d 2 h"), (93_601, "1 d 3 h"), (-5, "0 s"), (1e300, "36525 d 0 h"), (.infinity, "36525 d 0 h"),
        (.nan, "-"),
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
        #expect(Quantities.ratio(0.006513) == "0.00651×" && Quantities.ratio(0.05) == "0.0500×")
        #expect(Quantities.ratio(0.1) == "0.10×" && Quantities.ratio(0) == "0.00×" && Quantities.ratio(1) == "1.00×")
        #expect(Quantities.ratioInterval(0.002411, 0.45) == "0.00241–0.45")
    }

    @Test(
        "an interval's ends are in the unit of the figure, however far they are from it",
        arguments: [
            (279.2, 531.6, 297, "time", "279–532"), (2150, 4503, 2260, "time", "2.15–4.50"),
            (970, 1250, 980, "time", "970–1250"), (240, 3100, 1300, "time", "0.24–3.10"), (1, 2, 0, "time", "1–2"),
            (1536, 2048, 1600, "peak_resident", "1.50–2"), (900, 2400, 1200, "throughput_ops", "0.90–2.40"),
            (0.0048, 0.0065, 0.0057, "time_ratio", "0.00480–0.00650"),
        ])
    func interval(low: Double, high: Double, figure: Double, metric: String, text: String) {
        #expect(Quantities.interval(low, high, around: figure, of: metric) == text)
    }

    @Test(
        "a change is printed with its sign, to a tenth below ten",
        arguments: [
            (-0.06, "−6 %"), (0.79, "+79 %"), (-0.068, "−6.8 %"), (0.004, "+0.4 %"), (0, "0 %"), (25, "+2500 %"),
            (0.0996, "+10 %"),
        ])
    func change(part: Double, text: String) {
        #expect(Quantities.change(part) == text)
    }

    @Test(
        "values below the clock's resolution are not printed as zero",
        arguments: [(0, 23, "< 23 ns"), (22.9, 23, "< 23 ns"), (23, 23, "23 ns"), (0, 1, "< 1 ns"), (1, 1, "1 ns")])
    func resolution(nanoseconds: Double, resolution: Double, text: String) {
        #expect(Quantities.time(nanoseconds: nanoseconds, resolution: resolution) == text)
    }

    @Test(
        "in judged tables too, a time of single operations is never below the clock's resolution, but a mean over many may be",
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
        var left = TimeLeft(estimatedSeconds: 200)
        #expect(left.seconds == 200)
        left.finish(estimatedSeconds: 10, elapsed: 20)
        #expect((190...400).contains(left.seconds))
        // One tenth took 40 s, so the rest will take 360 s.
        left.finish(estimatedSeconds: 10, elapsed: 40)
        #expect(left.seconds == 360)
        left.finish(estimatedSeconds: 180, elapsed: 300)
        #expect(left.seconds == 0)
    }

    @Test("samples count by their cost: a thousand cheap ones are not half of a run with a thousand expensive ones")
    func weights() {
        var left = TimeLeft(estimatedSeconds: 1000 * 0.1 + 1000 * 10)
        for index in 1...1000 { left.finish(estimatedSeconds: 0.1, elapsed: Double(index) * 0.1) }
        #expect(abs(left.seconds - 10_000) < 1)
        // All take twice as long.
        for index in 1...500 { left.finish(estimatedSeconds: 10, elapsed: 100 + Double(index) * 20) }
        #expect((9500...10_000).contains(left.seconds))
    }

    @Test("dropped samples do not affect the pace of the others; a changed plan is followed")
    func changes() {
        var left = TimeLeft(estimatedSeconds: 100)
        left.finish(estimatedSeconds: 20, elapsed: 40)
        left.drop(estimatedSeconds: 30)
        #expect(left.seconds == 100)
        left.replan(estimatedSeconds: 10)
        #expect(left.seconds == 20)
        left.drop(estimatedSeconds: 1000)
        #expect(left.seconds == 0)
    }

    @Test("over a day of samples, the sum of finished ones does not drift from the plan")
    func day() {
        let count = 860_000
        var left = TimeLeft(estimatedSeconds: 0.1 * Double(count))
        for index in 1...count {
            left.finish(estimatedSeconds: 0.1, elapsed: 0.1 * Double(index))
            if index == count / 2 { #expect(abs(left.seconds - 43_000) < 0.01) }
        }
        #expect(left.seconds < 0.01)
    }
}

struct ProgressTests {
    private final class Screen {
        var text = ""
    }

    private static let clear = "\r\u{1B}[2K"
    private let golden = Golden("progress")

    private func show(_ style: ProgressDisplay.Style, width: Int = 200) -> String {
        let screen = Screen()
        let start = SuspendingClock.Instant.now
        var display = ProgressDisplay(
            style: style, write: { screen.text += $0 }, width: { width }, now: { start })
        display.handle(.started(total: 4, estimatedSeconds: 8, budgetSeconds: nil))
        display.handle(.calibrating)
        for index in 0..<4 {
            display.handle(
                .sampleStarted(index: index, total: 4, cellID: "w depth=2", backend: .engine, kind: .latency, block: 0))
            if index == 2 { display.handle(.warning("it is noisy")) }
            display.handle(.sampleFinished(index: index, status: .ok, rows: [], estimatedSeconds: 2))
            display.handle(.rowsSaved([]))
        }
        display.handle(.finished)
        return screen.text
    }

    @Test("lines for a log, one line for a terminal, erased before other output, or only warnings")
    func styles() {
        golden.expect(show(.lines), "lines")
        golden.expect(show(.bar), "bar", replacing: [Self.clear: "\n<clear>"])
        golden.expect(show(.silent), "silent")
    }

    @Test("a warning about a short budget comes before the first sample; a finished run is reported and left alone")
    func before() {
        let screen = Screen()
        var display = ProgressDisplay(style: .lines, write: { screen.text += $0 }, width: { 200 })
        display.handle(.started(total: 4, estimatedSeconds: 53, budgetSeconds: 5))
        display.handle(.budgetIsShort(budgetSeconds: 5, estimatedSeconds: 53))
        display.handle(.foundFinished)
        golden.expect(screen.text, "a short budget, a finished run")
    }

    @Test("time left over a day of samples: by their cost, at their pace, resumed or narrowed")
    func day() {
        let screen = Screen()
        var now = SuspendingClock.Instant.now
        var display = ProgressDisplay(style: .lines, write: { screen.text += $0 }, width: { 200 }, now: { now })
        func take(_ index: Int, estimated: Double, took: Double) {
            display.handle(
                .sampleStarted(index: index, total: 9, cellID: "w", backend: .engine, kind: .latency, block: 0))
            now = now.advanced(by: .seconds(took))
            display.handle(.sampleFinished(index: index, status: .ok, rows: [], estimatedSeconds: estimated))
        }
        // An earlier part of the run took 400 of 1,000 samples.
        display.handle(.started(total: 1000, estimatedSeconds: 93_600, budgetSeconds: nil))
        for index in 400..<500 { take(index, estimated: 0.6, took: 0.6) }
        take(500, estimated: 46_740, took: 46_740 * 2)
        take(501, estimated: 1, took: 2)
        display.handle(.narrowed(total: 600, estimatedSeconds: 21_600))
        take(502, estimated: 21_600, took: 40_000)
        display.handle(.finished)
        golden.expect(screen.text, "a day of samples")
    }

    @Test("with a budget, the time left is the budget's, however fast the first blocks are")
    func budget() {
        let screen = Screen()
        var now = SuspendingClock.Instant.now
        var display = ProgressDisplay(style: .bar, write: { screen.text += $0 }, width: { 200 }, now: { now })
        display.handle(.started(total: 1, estimatedSeconds: 60, budgetSeconds: 7200))
        display.handle(.sampleStarted(index: 0, total: 9, cellID: "w", backend: .engine, kind: .latency, block: 0))
        now = now.advanced(by: .seconds(3600))
        display.handle(.sampleFinished(index: 0, status: .ok, rows: [], estimatedSeconds: 60))
        display.handle(.extended(total: 2, estimatedSeconds: 60))
        display.handle(.sampleStarted(index: 1, total: 9, cellID: "w", backend: .engine, kind: .latency, block: 1))
        #expect(screen.text.contains("0/1 2 h 0 min"))
        #expect(screen.text.contains("1/2 1 h 0 min"))
    }

    @Test("for a precision, the budget is a bound, and the widest interval is shown")
    func precision() {
        let screen = Screen()
        var display = ProgressDisplay(style: .lines, write: { screen.text += $0 }, width: { 200 })
        display.handle(.started(total: 2, estimatedSeconds: 60, budgetSeconds: 600, isForPrecision: true))
        display.handle(.imprecise(cells: 3, distance: 0.0456))
        display.handle(.sampleStarted(index: 0, total: 9, cellID: "w", backend: .engine, kind: .throughput, block: 7))
        golden.expect(screen.text, "a precision")
    }

    @Test func barFitsTheTerminal() {
        for line in show(.bar, width: 40).split(whereSeparator: { $0 == "\n" || $0 == "\r" }) where line.contains("[#")
        {
            #expect(line.dropFirst("\u{1B}[2K".count).count < 40)
        }
    }
}
