import Glibc
import OpBenchModel

/// How operations arrive in an open loop, before a rate is chosen.
package struct Arrivals: Sendable, Equatable {
    package enum Gaps: String, Sendable { case poisson, constant }

    package var gaps: Gaps
    package var durationNanoseconds: Int
    package var seed: Int
    /// In a search, the bound of the 99th percentile; nil where the rate is given.
    package var boundNanoseconds: Int64?

    package init(_ cell: Cell) {
        gaps = Gaps(rawValue: cell.text("arrivals")) ?? .poisson
        durationNanoseconds = cell.integer("duration_ns")
        seed = cell.integer("seed")
        boundNanoseconds = cell.arrivalRate == nil ? Int64(cell.integer("bound_ns")) : nil
    }

    /// The instants of `count` arrivals, in nanoseconds from the first.
    package func instants(count: Int, perSecond rate: Int) -> [Int64] {
        let gap = 1e9 / Double(rate)
        var generator = SplitMix64(seed: UInt64(bitPattern: Int64(seed)))
        var instant = 0.0
        return (0..<count).map { index in
            defer { instant = gaps == .constant ? Double(index + 1) * gap : instant - log(1 - generator.unit()) * gap }
            return Int64(instant)
        }
    }

    /// How many operations arrive in the duration at that rate.
    package func count(perSecond rate: Int) -> Int {
        max(1, Int(Double(rate) * Double(durationNanoseconds) / 1e9))
    }
}
