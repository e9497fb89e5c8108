import Testing

@testable import OpBenchAnalysis
@testable import OpBenchModel

@Suite("Unsteady results")
struct UnsteadyResultsTests {
    /// A run's results, by the numbers of their unsteady samples and of all.
    private func marked(_ counts: [(unsteady: Int, all: Int)]) -> [Bool] {
        counts.enumerated().map { index, count in
            var row = SummaryRow(
                runID: "r", workload: "w", cellID: "w n=\(index)", backend: .engine, status: .ok, samples: count.all,
                parameters: [:])
            row.quality = SampleQuality(samples: count.all, levelled: count.all, unsteady: count.unsteady)
            return row
        }.markingUnsteady().map(\.isUnsteady)
    }

    @Test("A result stands out against the run's own rate, not against an ideal one")
    func ownRate() {
        // Every third sample of a run that keeps changing its speed, and the same result in a steady run.
        let steady = Array(repeating: (unsteady: 0, all: 7), count: 20)
        let restless = Array(repeating: (unsteady: 3, all: 7), count: 20)
        #expect(marked([(6, 7)] + steady) == [true] + Array(repeating: false, count: 20))
        #expect(marked([(6, 7)] + restless).allSatisfy { !$0 })
        #expect(marked([(15, 15)] + restless) == [true] + Array(repeating: false, count: 20))
        // A serial loop with 12 of 28, among backends with 35 % of theirs.
        #expect(marked([(12, 28), (10, 28), (9, 28), (8, 28)]).allSatisfy { !$0 })
        // Nothing to compare with: one result, one sample each, no samples of enough rounds.
        #expect(marked([(7, 7)]) == [false] && marked([(1, 1), (0, 1)]) == [false, false])
        #expect(marked([(0, 0), (0, 0)]) == [false, false] && marked([]).isEmpty)
    }

    @Test("Of runs whose results are alike, at most 5 % mark one", arguments: [0.03, 0.1, 0.35, 0.6])
    func falseMarks(rate: Double) {
        var generator = SplitMix64(seed: 11)
        let runs = 500
        let falselyMarked = (0..<runs).count { _ in
            marked((0..<68).map { _ in ((0..<7).count { _ in generator.unit() < rate }, 7) }).contains(true)
        }
        // 38 is the 99th percentile of a binomial with 5 %.
        #expect(falselyMarked <= 38, "\(falselyMarked) of \(runs)")
    }

    @Test("The tail of the hypergeometric distribution is that of all draws")
    func tail() {
        let (all, drawn) = (9, 4)
        for marked in 0...all {
            let draws = (0..<1 << all).filter { $0.nonzeroBitCount == drawn }
                .map { ($0 & ((1 << marked) - 1)).nonzeroBitCount }
            for least in 0...drawn {
                let expected = Double(draws.count { $0 >= least }) / Double(draws.count)
                let tail = hypergeometricTail(from: least, drawing: drawn, of: all, marked: marked)
                #expect(abs(tail - expected) < 1e-12, "\(marked), \(least)")
            }
        }
    }
}
