import Testing

@testable import OpBenchModel
@testable import OpBenchPage

@Suite("Curves of latencies")
struct LatencyCurveTests {
    private let key = LatencyCurves.Key(cellID: "w", backend: "engine", stage: "start")

    /// - Parameter samples: the buckets of each sample.
    private func curves(_ samples: [(bound: Int64, count: Int64)]...) -> LatencyCurves {
        var curves = LatencyCurves()
        for (number, rows) in samples.enumerated() {
            for row in rows {
                curves.add(
                    HistogramRow(
                        workload: "w", cellID: "w", backend: .engine, sampleID: "\(number)", stage: "start",
                        upperBoundsNanoseconds: [row.bound], counts: [row.count]))
            }
        }
        return curves
    }

    @Test("add up the histograms of a sample, in any order")
    func addUp() throws {
        let curve = try #require(curves([(200, 1), (100, 2), (200, 3)]).curve(key))
        #expect(curve.total == 6)
        #expect(curve.points.map(\.nanoseconds) == [100, 200])
        #expect(curve.points.map(\.part) == [0.25, 1])
    }

    @Test("are the medians of the samples' percentiles, and end at the maximum latency")
    func medians() throws {
        // Pooled, the third sample's operations would be most of the slowest.
        let samples = curves(
            [(10, 990), (100, 10)], [(20, 990), (300, 10)], [(15, 900), (9000, 100)])
        let curve = try #require(samples.curve(key))
        #expect(curve.total == 3000)
        func within(_ part: Double) -> Int64? { curve.points.first { $0.part >= part }?.nanoseconds }
        #expect(within(0.5) == 15 && within(0.99) == 20 && within(0.999) == 300)
        #expect(curve.points.last?.part == 1 && curve.points.last?.nanoseconds == 9000)
        let even = try #require(curves([(10, 100)], [(20, 100)]).curve(key))
        #expect(even.points.map(\.nanoseconds) == [15, 20])
    }

    @Test("saturate for more operations than Int64 holds")
    func greatCounts() throws {
        let curve = try #require(curves([(100, .max), (100, 1), (200, .max)]).curve(key))
        #expect(curve.total == .max && curve.points.map(\.nanoseconds) == [100, 200])
        #expect(curve.buckets.max() == .max)
    }

    @Test("rise to the maximum latency")
    func rise() throws {
        let curve = try #require(curves((1...1000).map { (Int64($0) * 10, 1) }).curve(key, ticks: 4))
        #expect(curve.points.last?.nanoseconds == 10_000)
        #expect(curve.points.last?.part == 1)
        #expect(
            zip(curve.points, curve.points.dropFirst()).allSatisfy {
                $0.part < $1.part && $0.nanoseconds < $1.nanoseconds
            })
        // A thousand operations are halved ten times.
        #expect((30...50).contains(curve.points.count))
        let half = try #require(curve.points.first { $0.part >= 0.5 })
        #expect(half.nanoseconds == 5000)
    }

    @Test(
        "count latencies by size, in four buckets per doubling",
        arguments: [
            (0, -1), (1, 0), (2, 4), (3, 6), (4, 8), (5, 9), (6, 10), (7, 11), (8, 12), (1023, 39), (1024, 40),
        ] as [(Int64, Int)])
    func buckets(nanoseconds: Int64, bucket: Int) {
        #expect(LatencyCurves.bucket(of: nanoseconds) == bucket)
    }

    @Test("lose no operation among the buckets")
    func allCounted() throws {
        let curve = try #require(curves([(0, 5), (7, 2), (Int64.max, 1)]).curve(key))
        #expect(curve.firstBucket == -1)
        #expect(curve.buckets.reduce(0, +) == 8)
    }

    @Test("are absent without operations")
    func empty() {
        #expect(curves([(5, 0), (-1, 3)]).curve(key) == nil)
        #expect(LatencyCurves().keys.isEmpty)
    }
}
