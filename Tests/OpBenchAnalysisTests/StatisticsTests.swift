import OpBenchModel
import Testing

@testable import OpBenchAnalysis

@Suite("Statistics")
struct StatisticsTests {
    @Test(
        "The median by hand",
        arguments: [
            ([], nil), ([3], 3), ([4, 2], 3), ([5, 1, 9], 5), ([1, 2, 3, 100], 2.5),
        ] as [([Double], Double?)])
    func medians(values: [Double], expected: Double?) {
        #expect(median(values) == expected)
    }

    @Test("The median is the middle of the sorted values, in any order, also with equal values", arguments: 1...60)
    func medianOfSorted(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let kinds = [2, 20, 1000].randomElement(using: &generator)!
        var values = (0..<Int.random(in: 1...400, using: &generator)).map { _ in
            Double(Int.random(in: 0..<kinds, using: &generator))
        }
        if seed % 3 == 0 { values.sort() }
        let sorted = values.sorted()
        #expect(median(values) == (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2)
    }

    /// The Walsh averages of 1, 2, 6 are 1, 1.5, 3.5, 2, 4, 6; their middle is (2 + 3.5) ÷ 2.
    @Test(
        "Hodges–Lehmann by hand",
        arguments: [
            ([], nil), ([7], 7), ([1, 3], 2), ([1, 2, 6], 2.75), ([0, 0, 0, 10], 0), ([-1, 1], 0),
        ] as [([Double], Double?)])
    func centres(values: [Double], expected: Double?) {
        #expect(hodgesLehmann(values) == expected)
    }

    @Test("Both move with the data and lie within it; outliers move them little", arguments: 1...40)
    func properties(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let values = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
            Double.random(in: -5...5, using: &generator)
        }
        for estimate in [median, hodgesLehmann] {
            let centre = try #require(estimate(values))
            #expect((values.min()!...values.max()!).contains(centre))
            #expect(abs(estimate(values.map { 2 * $0 + 3 })! - (2 * centre + 3)) < 1e-9)
            #expect(abs(estimate(values.map { -$0 })! + centre) < 1e-9)
            #expect(estimate(values.shuffled(using: &generator)) == centre)
        }
        if values.count >= 7 {
            let disturbed = values.dropLast() + [1e9]
            #expect(hodgesLehmann(Array(disturbed))! < 1e6)
        }
    }

    @Test("Hodges–Lehmann by selection equals the median of all pairs, to the last bit", arguments: 1...60)
    func selection(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let kinds = [1, 3, 50, 1_000_000].randomElement(using: &generator)!
        func values(_ count: Int) -> [Double] {
            (0..<count).map { _ in Double(Int.random(in: 0..<kinds, using: &generator)) / 7 - 3 }
        }
        let (first, second) = (
            values(.random(in: 41...150, using: &generator)), values(.random(in: 1...90, using: &generator))
        )
        let averages = first.indices.flatMap { one in first[one...].map { (first[one] + $0) / 2 } }
        #expect(hodgesLehmann(first) == median(averages))
        #expect(
            hodgesLehmannShift(from: first, to: second) == median(first.flatMap { from in second.map { $0 - from } }))
        #expect(
            hodgesLehmannShift(from: second, to: first) == median(second.flatMap { from in first.map { $0 - from } }))
    }

    @Test("Selection in a sorted matrix finds the same numbers as sorting, at every index", arguments: 1...20)
    func places(seed: UInt64) {
        struct Sums: SortedMatrix {
            let (left, right): ([Double], [Double])
            var rows: Int { left.count }
            func columns(of row: Int) -> Range<Int> { min(row / 3, right.count)..<right.count }
            func value(_ row: Int, _ column: Int) -> Double { left[row] + right[column] }
        }
        var generator = SplitMix64(seed: seed)
        let values = (0..<40).map { _ in Double(Int.random(in: 0..<30, using: &generator)) }
        let sums = Sums(left: values.prefix(25).sorted(), right: values.suffix(15).sorted())
        let sorted = (0..<sums.rows).flatMap { row in sums.columns(of: row).map { sums.value(row, $0) } }.sorted()
        for place in sorted.indices {
            #expect(sums.select(place) == sorted[place])
            let (count, greatest) = sums.less(than: sorted[place])
            #expect(count == sorted.firstIndex(of: sorted[place]))
            #expect(greatest == (count == 0 ? -.infinity : sorted[count - 1]))
        }
    }

    @Test("Selection matches sorting, with lesser values before it, also among equal values")
    func selection() {
        var generator = SplitMix64(seed: 11)
        for _ in 0..<300 {
            let count = Int.random(in: 1...40, using: &generator)
            let values = (0..<count).map { _ in Double(Int.random(in: 0...count / 2, using: &generator)) }
            let sorted = values.sorted()
            for place in values.indices {
                var moved = values
                let selected = moved.withUnsafeMutableBufferPointer { $0.select(place) }
                #expect(selected == sorted[place] && moved[place] == selected)
                #expect(moved[..<place].allSatisfy { $0 <= selected } && moved[place...].allSatisfy { $0 >= selected })
            }
        }
    }

    @Test("Figures at the limits of Double give an interval or nil, and never trap", arguments: 1...200)
    func extremes(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let edges = [
            0, .leastNonzeroMagnitude, 2000 * .leastNonzeroMagnitude, 1e-300, 1, 1e300, 1e308, .greatestFiniteMagnitude,
            .infinity, .nan, -1e308, -.infinity,
        ]
        func values() -> [Double] {
            (0..<Int.random(in: 0...24, using: &generator)).map { _ in edges.randomElement(using: &generator)! }
        }
        let (first, second) = (values(), values())
        _ = (median(first), hodgesLehmann(first), medianInterval(of: first), hodgesLehmannInterval(of: first))
        _ = hodgesLehmannShiftInterval(from: first, to: second)
        let pairs = zip(first, second).enumerated().map { (base: $1.0, head: $1.1, unit: $0 % 5) }
        let sides = [first, second].map { $0.enumerated().map { (value: $1, unit: $0 % 5) } }
        for effect in [Effect(pairs: pairs), Effect(base: sides[0], head: sides[1])] {
            #expect(effect?.shift.isFinite ?? true)
            #expect(effect?.ratio.map { !$0.isNaN } ?? true)
        }
    }

    @Test("The generator's published first numbers from state 0")
    func generator() {
        var generator = SplitMix64(seed: 0)
        #expect(generator.next() == 0xE220_A839_7B1D_CDAF)
        #expect(generator.next() == 0x6E78_9E6A_A1B9_65F4)
    }
}
