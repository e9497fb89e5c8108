import Histogram
import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct LatencyRecorderTests {
    private func histogram(_ values: some Sequence<Int64>) -> Histogram<UInt64> {
        var histogram = Histogram<UInt64>()
        for value in values { histogram.record(nanoseconds: value) }
        return histogram
    }

    @Test func `merged histograms equal one of all values`() throws {
        var recorder = LatencyRecorder()
        recorder.merge(histogram(1...1000), .start)
        recorder.merge(histogram([7]), .end, "priority=high")
        recorder.merge(histogram(1001...50_000), .start)
        let merged = try #require(recorder.histograms[.init(stage: .start, operationClass: "")])
        let whole = histogram(1...50_000)
        #expect(merged.totalCount == 50_000)
        for percentile in [50.0, 90, 99, 99.9, 100] {
            #expect(merged.valueAtPercentile(percentile) == whole.valueAtPercentile(percentile))
        }
        #expect(recorder.sortedKeys.map(\.operationClass) == ["", "priority=high"])
    }

    @Test func `an empty histogram leaves no trace`() {
        var recorder = LatencyRecorder()
        recorder.merge(Histogram<UInt64>(), .start)
        #expect(recorder.histograms.isEmpty)
    }

    @Test func `an operation that started before its submission returned did not wait`() {
        #expect(histogram([-5, -1, 3]).min == 0)
    }

    @Test func `buckets keep the counts, in order, with widths relative to their values`() {
        let buckets = histogram(stride(from: Int64(1), through: 1_000_000, by: 997)).buckets
        #expect(buckets.reduce(0) { $0 + $1.count } == 1004)
        #expect(buckets.count < 1000)
        #expect(zip(buckets, buckets.dropFirst()).allSatisfy { $0.upperBound < $1.upperBound })
        // The greatest value is 999,992.
        #expect(buckets.last?.upperBound == 1_015_807)
        #expect(buckets.last.map { LatencyBuckets.upperBound(of: 999_992) == $0.upperBound } == true)
    }
}
