import OpBenchModel
import Testing

@testable import OpBenchAnalysis

/// The search for the first bad commit, told the verdicts: for every place of that commit in histories of up to 40.
struct BisectionTests {
    /// A history whose commits from `culprit` on are bad.
    private struct History {
        let last: Int
        let culprit: Int
        /// The commits that cannot be measured.
        var skipped: Set<Int> = []
        /// Bit n: whether measurement n is uncertain and its verdict wrong.
        var wrong = 0

        static let all = (1...40).flatMap { last in (1...last).map { History(last: last, culprit: $0) } }

        struct End {
            var search: Bisection
            var measured: [Int] = []
            var isConfirmed = false
        }

        func searched() -> End {
            var end = End(search: Bisection(last: last))
            while true {
                while let position = end.search.next {
                    if skipped.contains(position) {
                        end.search.skip(position)
                        continue
                    }
                    let isWrong = wrong >> end.measured.count & 1 == 1
                    end.measured.append(position)
                    end.search.take((position >= culprit) != isWrong ? .bad : .good, at: position, isCertain: !isWrong)
                }
                end.isConfirmed = end.search.suspects.contains(culprit)
                if end.isConfirmed || !end.search.refute() { return end }
            }
        }
    }

    @Test("finds every culprit in the fewest steps")
    func certain() {
        for history in History.all {
            let end = history.searched()
            #expect(end.search.suspects == history.culprit...history.culprit, "\(history)")
            #expect(end.isConfirmed && end.search.certainSuspects == end.search.suspects)
            let most = (0...).first { 1 << $0 >= history.last }!
            #expect(end.measured.count <= most, "\(history)")
        }
    }

    @Test("with skipped commits, the suspects are those since the last good one that was measured")
    func skips() {
        for history in History.all {
            let between = 1..<history.last
            let patterns: [(Int) -> Bool] = [
                { $0 % 2 == 0 }, { $0 % 3 != 0 }, { $0 < history.last / 2 }, { $0 >= history.last / 2 }, { _ in true },
                { abs($0 - history.culprit) <= 1 },
            ]
            for pattern in patterns {
                var history = history
                history.skipped = Set(between.filter(pattern))
                let end = history.searched()
                let isMeasured = { (position: Int) in !history.skipped.contains(position) }
                let good = (0..<history.culprit).last(where: isMeasured)!
                let bad = (history.culprit...history.last).first(where: isMeasured)!
                #expect(end.search.suspects == good + 1...bad, "\(history)")
                #expect(Set(end.measured).isDisjoint(with: history.skipped) && end.isConfirmed)
            }
        }
    }

    @Test("a wrong verdict that was uncertain is corrected, or leaves a range with the culprit")
    func uncertain() {
        for history in History.all where history.last <= 20 {
            for wrong in 0..<32 {
                var history = history
                history.wrong = wrong
                let end = history.searched()
                #expect(end.search.certainSuspects.contains(history.culprit), "\(history)")
                if end.isConfirmed { #expect(end.search.suspects == history.culprit...history.culprit, "\(history)") }
                // One wrong verdict is always corrected.
                if wrong.nonzeroBitCount <= 1 { #expect(end.isConfirmed, "\(history)") }
            }
        }
    }

    @Test("ends that do not differ, for certain, leave nothing to correct")
    func refuted() {
        var search = Bisection(last: 2)
        search.take(.bad, at: 1, isCertain: true)
        #expect(!search.refute() && search.suspects == 1...1)
    }

    // MARK: The change

    private func row(
        _ metric: Metric = .time, _ verdict: Verdict, ratio: Double? = nil, _ interval: (Double, Double)? = nil,
        base: Double? = nil, head: Double? = nil
    ) -> CompareRow {
        var row = CompareRow(
            FigureName(cellID: "w", backend: .engine, metric: metric.name, phase: "total", stat: "total"),
            verdict: verdict)
        (row.ratio, row.ratioLow, row.ratioHigh) = (ratio, interval?.0, interval?.1)
        (row.base, row.head) = (base, head)
        return row
    }

    @Test("the regression that is furthest from chance is searched, and half of it divides good from bad")
    func change() throws {
        let rows = [
            row(.time, .regression, ratio: 1.3, (1.05, 1.5)), row(.cpuTime, .regression, ratio: 1.21, (1.2, 1.22)),
            row(.allocations, .pass, ratio: 3, (2, 4)),
        ]
        let change = try #require(SearchedChange(in: rows))
        #expect(change.row.metric == Metric.cpuTime.name)
        let rule = try #require(change.policy.rule(for: change.row))
        #expect(abs(rule.maxRegression - 0.1) < 1e-9)
        #expect(change.policy.rule(for: rows[0]) == nil)
        #expect(SearchedChange(in: [rows[2]]) == nil)
        let expected: [(CompareRow, Bisection.Verdict?, Bool)] = [
            (row(.cpuTime, .regression, ratio: 1.2), .bad, true), (row(.cpuTime, .pass, ratio: 1.05), .good, true),
            (row(.cpuTime, .improved, ratio: 0.9), .good, true),
            (row(.cpuTime, .inconclusive, ratio: 1.11), .bad, false),
            (row(.cpuTime, .inconclusive, ratio: 1.09), .good, false), (row(.cpuTime, .inconclusive), nil, false),
            (row(.cpuTime, .missing), nil, false), (row(.time, .regression, ratio: 2), nil, false),
        ]
        for (row, verdict, isCertain) in expected {
            let judged = change.judged(by: [row])
            #expect(judged?.verdict == verdict && judged?.isCertain ?? false == isCertain, "\(row)")
        }
    }

    @Test("the part of the change is that of the logarithm of ratios, or of the difference")
    func parts() throws {
        let time = try #require(SearchedChange(in: [row(.time, .regression, ratio: 1.21, (1.2, 1.22))]))
        #expect(abs(try #require(time.part(in: row(.time, .inconclusive, ratio: 1.1))) - 0.5) < 1e-9)
        #expect(time.part(in: row(.time, .inconclusive)) == nil)
        let rate = try #require(SearchedChange(in: [row(.sustainedRate, .regression, ratio: 0.25)]))
        #expect(abs(try #require(rate.part(in: row(.sustainedRate, .pass, ratio: 0.5))) - 0.5) < 1e-9)
        let count = try #require(SearchedChange(in: [row(.allocations, .regression, base: 0, head: 8)]))
        #expect(count.part(in: row(.allocations, .pass, base: 0, head: 2)) == 0.25)
    }

    @Test("a rate gets worse when it falls, and a count may rise from 0")
    func scales() throws {
        let rate = try #require(
            SearchedChange(in: [row(.sustainedRate, .regression, ratio: 0.64, (0.6, 0.7), base: 100, head: 64)]))
        #expect(abs(rate.policy.rules[0].figure.maxRegression - 0.25) < 1e-9)
        #expect(rate.judged(by: [row(.sustainedRate, .inconclusive, ratio: 0.7)])?.verdict == .bad)
        #expect(rate.judged(by: [row(.sustainedRate, .inconclusive, ratio: 0.9)])?.verdict == .good)
        let count = try #require(SearchedChange(in: [row(.allocations, .regression, base: 0, head: 8)]))
        #expect(count.policy.rules[0].figure.minAbsolute == 4)
        #expect(count.judged(by: [row(.allocations, .inconclusive, base: 0, head: 5)])?.verdict == .bad)
        #expect(count.judged(by: [row(.allocations, .inconclusive, base: 0, head: 3)])?.verdict == .good)
    }
}
