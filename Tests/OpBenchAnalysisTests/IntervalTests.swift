import Glibc
import OpBenchModel
import Testing

@testable import OpBenchAnalysis

/// Exact intervals. Critical values are from published tables (Wilcoxon's signed ranks, Mann–Whitney, the sign test;
/// two-sided 5 % and 1 %), examples from Hollander and Wolfe, Nonparametric Statistical Methods.
@Suite("Intervals")
struct IntervalTests {
    @Test(
        "Signed ranks: the greatest sum that the tables call significant at 5 % and at 1 %",
        arguments: [
            (5, nil, nil), (6, 0, nil), (7, 2, nil), (8, 3, 0), (9, 5, 1), (10, 8, 3), (12, 13, 7), (15, 25, 15),
            (20, 52, 37), (25, 89, 68), (30, 137, 109), (40, 264, 220), (50, 434, 373),
        ] as [(Int, Int?, Int?)])
    func signedRanks(count: Int, at5: Int?, at1: Int?) {
        let distribution = RankDistribution.signedRanks(of: count)
        #expect(distribution.place(tail: 0.025) == at5 && distribution.place(tail: 0.005) == at1)
    }

    @Test(
        "Mann–Whitney: the greatest U that the tables call significant at 5 % and at 1 %, either sample first",
        arguments: [
            (3, 4, nil, nil), (3, 5, 0, nil), (4, 4, 0, nil), (5, 5, 2, 0), (5, 8, 6, 2), (7, 7, 8, 4), (7, 12, 18, 12),
            (9, 12, 26, 18), (10, 10, 23, 16), (15, 15, 64, 51), (20, 20, 127, 105),
        ] as [(Int, Int, Int?, Int?)])
    func rankSums(first: Int, second: Int, at5: Int?, at1: Int?) {
        for distribution in [
            RankDistribution.rankSum(of: first, and: second), .rankSum(of: second, and: first),
        ] {
            #expect(distribution.place(tail: 0.025) == at5 && distribution.place(tail: 0.005) == at1)
        }
    }

    @Test(
        "The sign test's critical values at 5 % and at 1 %",
        arguments: [
            (5, nil, nil), (6, 0, nil), (8, 0, 0), (9, 1, 0), (12, 2, 1), (15, 3, 2), (20, 5, 3), (25, 7, 5),
            (40, 13, 11),
        ] as [(Int, Int?, Int?)])
    func signs(count: Int, at5: Int?, at1: Int?) {
        let distribution = RankDistribution.sign(of: count)
        #expect(distribution.place(tail: 0.025) == at5 && distribution.place(tail: 0.005) == at1)
    }

    @Test("The probabilities of the tables: 95.3 % for seven blocks")
    func probabilities() {
        #expect(RankDistribution.signedRanks(of: 7).probability(upTo: 2) == 3.0 / 128)
        #expect(RankDistribution.signedRanks(of: 10).probability(upTo: 8) == 25.0 / 1024)
        #expect(abs(RankDistribution.rankSum(of: 4, and: 5).probability(upTo: 2) - 4.0 / 126) < 1e-15)
        #expect(RankDistribution.sign(of: 7).probability(upTo: 1) == 8.0 / 128)
        // The middle: half of all values lie below it, with half of those at it.
        for distribution in [RankDistribution.signedRanks(of: 31), .rankSum(of: 40, and: 60), .sign(of: 100)] {
            let (middle, below) = (distribution.greatest / 2, distribution.greatest / 2 - 1)
            let sum = distribution.probability(upTo: middle) + distribution.probability(upTo: below)
            #expect(abs(sum - 1) < 1e-12)
        }
    }

    @Test("Beyond the limit the approximation continues the exact distribution")
    func approximation() throws {
        let limit = RankDistribution.exactRankLimit
        for tail in [0.025, 0.01] {
            func isBetween(_ place: (Int) -> RankDistribution) throws -> Bool {
                let places = try (-1...2).map { try #require(place(limit + $0).place(tail: tail)) }
                let steps = zip(places, places.dropFirst()).map { $1 - $0 }
                return abs(steps[1] - (steps[0] + steps[2]) / 2) <= 2
            }
            #expect(try isBetween(RankDistribution.signedRanks))
            #expect(try isBetween(RankDistribution.sign))
            #expect(try isBetween { .rankSum(of: $0 / 2, and: $0 - $0 / 2) })
        }
    }

    @Test("Hollander and Wolfe's patients: the interval of the centre, with 96.1 % coverage")
    func hamilton() throws {
        let differences = [0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01]
        let interval = try #require(hodgesLehmannInterval(of: differences))
        #expect(abs(interval.lowerBound - 0.01) < 1e-12 && abs(interval.upperBound - 0.786) < 1e-12)
        #expect(abs(try #require(hodgesLehmann(differences)) - 0.46) < 1e-12)
        #expect(1 - 2 * RankDistribution.signedRanks(of: 9).probability(upTo: 5) == 1 - 20.0 / 512)
    }

    @Test("Hollander and Wolfe's membranes: the interval of the shift, from fewer values than opbench accepts")
    func chorioamnion() throws {
        let atTerm = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
        let early = [1.15, 0.88, 0.90, 0.74, 1.21]
        let place = try #require(RankDistribution.rankSum(of: 10, and: 5).place(tail: 0.025))
        let differences = Differences(from: atTerm.sorted(), to: early.sorted())
        #expect(abs(differences.select(place) + 0.76) < 1e-12)
        #expect(abs(differences.select(differences.count - 1 - place) - 0.15) < 1e-12)
        #expect(abs(try #require(hodgesLehmannShift(from: atTerm, to: early)) + 0.305) < 1e-12)
    }

    @Test("The ends are those of the sorted pairs, each by its own tail, and enclose the estimate", arguments: 1...30)
    func order(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let kinds = [2, 30, 1_000_000].randomElement(using: &generator)!
        func values(_ count: Int) -> [Double] {
            (0..<count).map { _ in Double(Int.random(in: 0..<kinds, using: &generator)) / 7 }
        }
        let (first, second) = (
            values(.random(in: 7...60, using: &generator)), values(.random(in: 7...60, using: &generator))
        )
        let tails = Tails(low: 0.025, high: 0.008)
        func expected(_ pairs: [Double], _ distribution: RankDistribution) throws -> ClosedRange<Double> {
            let sorted = pairs.sorted()
            let (low, high) = (
                try #require(distribution.place(tail: 0.025)), try #require(distribution.place(tail: 0.008))
            )
            return sorted[low]...sorted[sorted.count - 1 - high]
        }
        let averages = first.indices.flatMap { one in first[one...].map { (first[one] + $0) / 2 } }
        let ofCentre = try #require(hodgesLehmannInterval(of: first, tails: tails))
        #expect(try ofCentre == expected(averages, .signedRanks(of: first.count)))
        #expect(ofCentre.contains(hodgesLehmann(first)!))
        let ofShift = try #require(hodgesLehmannShiftInterval(from: first, to: second, tails: tails))
        let differences = first.flatMap { from in second.map { $0 - from } }
        #expect(try ofShift == expected(differences, .rankSum(of: first.count, and: second.count)))
        #expect(ofShift.contains(hodgesLehmannShift(from: first, to: second)!))
        let ofMedian = try #require(medianInterval(of: first, tails: tails))
        #expect(try ofMedian == expected(first, .sign(of: first.count)))
        #expect(ofMedian.contains(median(first)!))
    }

    @Test("No interval from too few values, nor from values that are not finite")
    func tooFew() throws {
        #expect(minimumForInterval == 6)
        #expect([0.02, 0.0078125, 0.001].map(fewestForInterval) == [6, 7, 10])
        for count in 0..<minimumForInterval {
            let values = Array(repeating: 1.0, count: count)
            #expect(medianInterval(of: values) == nil && hodgesLehmannInterval(of: values) == nil)
        }
        let six = Array(repeating: 2.0, count: 6)
        #expect(medianInterval(of: six) == 2...2 && hodgesLehmannInterval(of: six) == 2...2)
        #expect(hodgesLehmannShiftInterval(from: Array(six.dropLast()), to: six + six) == nil)
        #expect(hodgesLehmannShiftInterval(from: six, to: six) == 0...0)
        #expect(hodgesLehmannShiftInterval(from: six, to: six, tails: Tails(low: 0.001)) == nil)
        #expect(hodgesLehmannShiftInterval(from: [], to: six) == nil)
        #expect(medianInterval(of: six + [.infinity]) == nil && hodgesLehmannInterval(of: six + [.nan]) == nil)
    }

    @Test("Intervals have their stated coverage, also for skewed and heavy-tailed values")
    func coverage() throws {
        var generator = SplitMix64(seed: 3)
        // With a coverage of 95 %, fewer than 94 % of 3000 intervals hold less than once in a hundred times.
        let (trials, least) = (3000, 2820)
        func skewed() -> Double { -log(1 - Double.random(in: 0..<1, using: &generator)) }
        func heavy() -> Double {
            tan(Double.pi * (Double.random(in: 0..<1, using: &generator) - 0.5))
        }
        var held = (centre: 0, shift: 0, median: 0)
        for _ in 0..<trials {
            let pairs = (0..<7).map { _ in skewed() - skewed() }
            if try #require(hodgesLehmannInterval(of: pairs)).contains(0) { held.centre += 1 }
            let (first, second) = ((0..<8).map { _ in heavy() }, (0..<7).map { _ in heavy() + 1 })
            if try #require(hodgesLehmannShiftInterval(from: first, to: second)).contains(1) { held.shift += 1 }
            let single = (0..<15).map { _ in skewed() }
            if try #require(medianInterval(of: single)).contains(log(2)) { held.median += 1 }
        }
        #expect(held.centre >= least && held.shift >= least && held.median >= least, "\(held)")
    }
}
