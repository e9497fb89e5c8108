import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchRunner

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
        display.handle(.extended(estimatedSeconds: 60))
        display.handle(.sampleStarted(index: 1, total: 9, cellID: "w", backend: .engine, kind: .latency, block: 1))
        #expect(screen.text.contains("0/1 2 h 0 min"))
        #expect(screen.text.contains("1 done, 1 h 0 min"))
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
