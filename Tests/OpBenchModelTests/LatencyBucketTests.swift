import Foundation
import Testing

@testable import OpBenchModel

@Suite("Buckets of latencies")
struct LatencyBucketTests {
    @Test("Each value is in one bucket, as wide as stated, and the buckets do not overlap")
    func buckets() {
        var values = Array(0...5000) as [Int64]
        for octave in 5..<62 { values += [-1, 0, 1].map { (Int64(1) << octave) + $0 } }
        values += [.max - 1, .max]
        let wrong = values.filter { value in
            let bound = LatencyBuckets.upperBound(of: value)
            let isIn = bound >= value && Double(bound - value) <= Double(value) * 1 / 32
            let isLast = bound == .max || LatencyBuckets.upperBound(of: bound + 1) > bound
            return !isIn || !isLast || LatencyBuckets.upperBound(of: bound) != bound
        }
        #expect(wrong.isEmpty)
        #expect((0..<64).allSatisfy { LatencyBuckets.upperBound(of: $0) == $0 })
        #expect(LatencyBuckets.upperBound(of: -5) == 0)
    }

    @Test("A histogram of 100,000 latencies over six decades takes a few kilobytes")
    func size() throws {
        let values = (0..<100_000).map { index in
            (upperBound: Int64(100 * pow(10, 6 * Double(index) / 100_000)), count: Int64(1))
        }
        let merged = LatencyBuckets.merged(values)
        #expect(merged.count < 660)
        let row = HistogramRow(
            workload: "tiny-vs-batched", cellID: "tiny-vs-batched items_per_operation=100", backend: .foundation,
            sampleID: "00123-latency", stage: "start", upperBoundsNanoseconds: merged.map(\.upperBound),
            counts: merged.map(\.count))
        #expect(CSVFile.line(of: row).utf8.count < 8 << 10)
        // Even a histogram of all possible times is within a reader's limits.
        var times: [(upperBound: Int64, count: Int64)] = []
        for octave in 6..<62 {
            let start = Int64(1) << octave
            for part in 0..<64 as Range<Int64> { times.append((upperBound: start + start / 64 * part, count: 1)) }
        }
        let all = LatencyBuckets.merged(times)
        let bounds = all.map { String($0.upperBound) }.joined(separator: " ")
        #expect(all.count > 1000 && bounds.utf8.count < 1 << 16)
    }

    @Test("Histograms add up: the sum of two is the histogram of all their values")
    func sums() {
        let values = (0..<3000).map { Int64($0 * $0 * 7 % 1_000_003) }
        func merged(_ values: some Sequence<Int64>) -> [Int64: Int64] {
            Dictionary(
                uniqueKeysWithValues: LatencyBuckets.merged(values.map { (upperBound: $0, count: 1) }).map {
                    ($0.upperBound, $0.count)
                })
        }
        let parts = merged(values.prefix(1000)).merging(merged(values.dropFirst(1000)), uniquingKeysWith: +)
        #expect(parts == merged(values) && parts.values.reduce(0, +) == 3000)
    }
}
