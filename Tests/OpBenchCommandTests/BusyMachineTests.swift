import Testing

@testable import OpBenchCommand
@testable import OpBenchModel
@testable import OpBenchRunner

/// Messages about a run that other work slows down.
@Suite("Busy machines")
struct BusyMachineTests {
    private final class Screen {
        var text = ""
        var now = SuspendingClock.now
    }

    private func row(_ flags: [SampleFlag]) -> SampleRow {
        SampleRow(
            runID: "r", sampleID: "0-throughput", timestampUTC: "", workload: "w", cellID: "w", backend: .engine,
            block: 0,
            position: 0, phase: "", status: .ok, flags: flags, metric: "status", stat: "", value: nil, operations: 1,
            parameters: [:])
    }

    /// The lines in which a run of 100 samples, each planned to take 2 s, reports its slowdown.
    private func lines(
        _ style: ProgressDisplay.Style = .lines, noisy: Int = 1, budget: Double? = nil, each seconds: Double
    ) -> [Substring] {
        let screen = Screen()
        var display = ProgressDisplay(
            style: style, write: { screen.text += $0 }, width: { 200 }, now: { screen.now })
        display.handle(.started(total: 100, estimatedSeconds: 200, budgetSeconds: budget))
        for index in 0..<100 {
            display.handle(
                .sampleStarted(
                    index: index, total: 100, cellID: "w", backend: .engine, kind: .throughput, block: 0))
            screen.now = screen.now.advanced(by: .seconds(seconds))
            display.handle(
                .sampleFinished(
                    index: index, status: .ok, rows: [row(index % noisy == 0 ? [.noisy] : [])], estimatedSeconds: 2))
        }
        return screen.text.split(separator: "\n").filter { $0.contains("×") }
    }

    @Test("after a tenth of the run, one line reports how much longer it takes than planned")
    func said() {
        let lines = lines(each: 2.75)
        #expect(lines.count == 1)
        #expect(lines.first.map { $0.contains("1.4×") && $0.contains(Quantities.wait(seconds: 275)) } == true)
    }

    @Test(
        "there is no line for a quiet machine, a slightly wrong plan, or if only warnings are shown"
    )
    func unsaid() {
        #expect(lines(noisy: 3, each: 2.75) == [])
        #expect(lines(each: 2.3) == [])
        #expect(lines(.silent, each: 2.75) == [])
        #expect(lines(budget: 1800, each: 2.75) == [])
    }

    @Test("a few samples are not enough")
    func few() {
        var left = TimeLeft(estimatedSeconds: 20)
        func finish(_ elapsed: Double) -> String? {
            left.finish(estimatedSeconds: 1, elapsed: elapsed)
            return left.busyMachine(isNoisy: true)
        }
        for count in 1..<8 { #expect(finish(Double(count) * 3) == nil) }
        #expect(finish(24)?.contains("3.0×") == true)
        #expect(finish(27) == nil)
    }
}
