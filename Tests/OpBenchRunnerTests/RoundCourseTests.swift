import Foundation
import OpBenchModel
import Testing

@testable import OpBenchRunner

@Suite struct RoundCourseTests {
    private func level(_ counts: (count: Int, time: Double)...) -> [Double] {
        counts.flatMap { Array(repeating: $0.time, count: $0.count) }
    }

    private func isFlat(_ times: [Double]) throws -> Bool { try #require(RoundCourse(times)).isFlat }

    // MARK: Change points

    @Test func `a series without noise is cut exactly where its level changes`() {
        let found = Segmentation(of: level((10, 100), (7, 150), (20, 90)))
        #expect(found.segments.map(\.range) == [0..<10, 10..<17, 17..<37])
        #expect(found.segments.map(\.mean).map { ($0 * 1e6).rounded() / 1e6 } == [100, 150, 90])
        #expect(found.deviation < 1e-3)
    }

    @Test func `a constant series, a short one and one below its resolution are one segment`() {
        #expect(Segmentation(of: level((64, 5))).segments.map(\.range) == [0..<64])
        #expect(Segmentation(of: [3]).segments.map(\.range) == [0..<1])
        #expect(Segmentation(of: [3, 4, 3, 9, 9]).segments.map(\.range) == [0..<5])
        #expect(Segmentation(of: level((32, 1_000_000), (32, 1_000_100))).segments.count == 1)
    }

    @Test func `the cut of a noisy step is the one with the least squares`() {
        var generator = Noise(seed: 3)
        for _ in 0..<50 {
            let change = Int(generator.unit() * 20) + 10
            let values = (0..<40).map { ($0 < change ? 100 : 120) + generator.normal() }
            let found = Segmentation(of: values).segments.map(\.range)
            let least = (3...37).min { Self.squares(values, cut: $0) < Self.squares(values, cut: $1) }!
            #expect(found == [0..<least, least..<40])
        }
    }

    private static func squares(_ values: [Double], cut: Int) -> Double {
        [values[..<cut], values[cut...]].reduce(0) { sum, part in
            let mean = part.reduce(0, +) / Double(part.count)
            return part.reduce(sum) { $0 + ($1 - mean) * ($1 - mean) }
        }
    }

    // MARK: Levels

    @Test func `rounds on several levels are not flat, whichever of them is the last`() throws {
        #expect(try isFlat(level((40, 100))))
        #expect(try !isFlat(level((10, 150), (30, 100))))
        #expect(try !isFlat(level((10, 100), (30, 150))))
        #expect(try !isFlat(level((31, 100), (9, 150))))
        // The last level is the first one again.
        #expect(try !isFlat(level((10, 100), (20, 150), (10, 100))))
    }

    @Test func `levels within the tolerance are equivalent, and the change is that of the last to the first`() throws {
        #expect(try isFlat(level((20, 104), (20, 100))))
        #expect(try !isFlat(level((20, 106), (20, 100))))
        #expect(abs(try #require(RoundCourse(level((20, 104), (20, 100)))).change + 4.0 / 104) < 1e-9)
        #expect(try #require(RoundCourse(level((20, 7)))).change == 0)
    }

    @Test func `levels that differ by less than the noise are equivalent`() throws {
        // Ten above and ten below in turn, around levels seven apart.
        let times = (0..<60).map { Double($0 < 30 ? 100 : 107) + ($0 % 2 == 0 ? 10 : -10) }
        #expect(try isFlat(times))
    }

    @Test func `a single disturbed round does not count, a run of them at the start does`() throws {
        for place in [0, 1, 20, 38, 39] {
            var times = level((40, 100))
            times[place] = 900
            #expect(try isFlat(times), "\(place)")
        }
        #expect(try !isFlat(level((4, 150), (36, 100))))
    }

    @Test func `few rounds show no levels`() {
        #expect(RoundCourse(level((RoundSeries.fewestTimes - 1, 5))) == nil)
        #expect(RoundCourse([]) == nil && RoundCourse(level((20, 0))) == nil)
    }

    // MARK: Series

    private func report(_ times: some Sequence<Int64>) -> SampleReport {
        var series = RoundSeries()
        for time in times { series.add(time) }
        var report = SampleReport()
        series.report(operationsPerRound: 7, into: &report)
        return report
    }

    @Test func `many rounds are summed, and keep their course`() throws {
        for count in [20, 64, 1000, 5000] {
            let slow = report((0..<Int64(count)).map { $0 < count / 4 ? 2000 : 1000 })
            #expect(slow.flags == [.unsteady], "\(count)")
            let change = try #require(slow.figures.last)
            #expect(change.metric == "round_change" && abs(change.value + 0.5) < 0.05 && change.operations == 7 * count)
        }
        let flat = report(Array(repeating: 1000, count: 500))
        #expect(flat.flags.isEmpty && flat.figures.last?.value == 0)
        #expect(report(Array(repeating: 1000, count: 5)).figures.isEmpty)
    }

    // MARK: Noise

    /// Rounds of one level with noise of a fifth of it.
    enum Kind: CaseIterable {
        case white, skewed, heavyTailed, similarNeighbours

        func series(_ count: Int, _ noise: inout Noise) -> [Double] {
            var previous = noise.normal()
            return (0..<count).map { _ in
                switch self {
                case .white: return 100 + 20 * noise.normal()
                case .skewed: return 100 * exp(0.4 * noise.normal())
                case .heavyTailed: return 100 + 10 * noise.student(degrees: 3)
                case .similarNeighbours:
                    // Autocorrelation 0.5, variance 1.
                    previous = 0.5 * previous + 0.75.squareRoot() * noise.normal()
                    return 100 + 20 * previous
                }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `noise around one level is rarely anything but flat`(kind: Kind) throws {
        for count in [16, 63] {
            var noise = Noise(seed: UInt64(count))
            let flagged = try (0..<1000).count { _ in try !isFlat(kind.series(count, &noise)) }
            #expect(flagged <= (kind == .similarNeighbours ? 40 : 10), "\(kind), \(count) rounds: \(flagged) of 1000")
        }
    }

    @Test func `a change by three times the noise is found`() throws {
        var noise = Noise(seed: 5)
        let found = try (0..<200).count { _ in
            try !isFlat((0..<60).map { ($0 < 20 ? 130 : 100) + 10 * noise.normal() })
        }
        #expect(found >= 190)
    }
}

/// Seeded noise.
struct Noise {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func unit() -> Double { generator.unit() }

    /// Standard normal (Box and Muller 1958).
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - generator.unit())).squareRoot()
        return radius * cos(2 * .pi * generator.unit())
    }

    /// Student's t.
    mutating func student(degrees: Int) -> Double {
        let numerator = normal()
        let squares = (0..<degrees).reduce(0.0) { sum, _ in
            let value = normal()
            return sum + value * value
        }
        return numerator / (squares / Double(degrees)).squareRoot()
    }
}
