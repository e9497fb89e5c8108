import Glibc
import OpBenchModel

/// The two groups that times fall into, as when a queue sometimes runs in another mode; nil if they do not, or for
/// fewer than `fewestForModes`.
///
/// The times are cut in two, on a logarithmic scale, where the gap between neighbours is widest compared with the
/// spread within both parts (their pooled standard deviation). Each part has at least a sixth of the times, and at least
/// two. The parts are modes if the gap is 5 % or more and exceeds the spread by the factor `criticalGap`.
///
/// - Parameter values: positive; others are ignored.
public func twoModes(of values: [Double]) -> Modes? {
    let times = values.filter { $0 > 0 && $0.isFinite }.sorted()
    guard times.count >= fewestForModes else { return nil }
    let logarithms = times.map { log($0) }
    let least = max(2, (times.count + 5) / 6)
    let cuts = (least...times.count - least).map { cut in
        (
            gap: logarithms[cut] - logarithms[cut - 1],
            spread: pooledDeviation(logarithms[..<cut], logarithms[cut...]), place: cut
        )
    }
    let found = cuts.filter { cut in
        cut.gap >= leastGap && cut.gap > criticalGap(times.count) * cut.spread
    }.max { $0.gap * $1.spread < $1.gap * $0.spread }
    return found.map { cut in
        Modes(
            low: median(Array(times[..<cut.place])), high: median(Array(times[cut.place...])),
            highSamples: times.count - cut.place)
    }
}

/// The fewest values that can show two modes.
let fewestForModes = 6
/// Modes that are closer than this do not matter.
private let leastGap = log(1.05)

/// The least ratio of the gap to the spread. Of samples from one distribution less than 1 % exceed it: in 40,000
/// draws of 7, 15 or 40 values, 0.14 % at most if they are normal or lognormal, or have the tails of Student's t with
/// two degrees of freedom; 0.6 % at most if they are uniform, or exponential, even in their logarithms. Of seven
/// samples, each in one of two modes by the toss of a coin, 33 % exceed it if the modes are ten standard deviations
/// apart, and 73 % at fifteen; of fifteen samples, 94 % at ten; of forty, 96 % at seven.
private func criticalGap(_ count: Int) -> Double { 70 / Double(count) }

/// The standard deviation within two groups.
private func pooledDeviation(_ first: ArraySlice<Double>, _ second: ArraySlice<Double>) -> Double {
    let squares = squaredDeviations(first) + squaredDeviations(second)
    return (squares / Double(first.count + second.count - 2)).squareRoot()
}
