import Glibc
import OpBenchModel

/// How one figure differs between two sides: an estimate with its interval and p-value.
struct Effect {
    /// head ÷ base.
    var ratio: Double
    var interval: ClosedRange<Double>?
    var probability: Double?
    /// Blocks behind it: of the smaller side.
    var blocks: Int
    /// Beyond so many blocks there is no test, or no run that has them in a bearable time.
    var mostBlocks: Int

    /// From blocks that hold both sides, such as two interleaved builds: drift that hits a whole block cancels.
    ///
    /// Hodges–Lehmann on the log-ratios, bootstrap over blocks, exact sign-flip test.
    init?(pairs: [(base: Double, head: Double)], seed: UInt64, resamples: Int) {
        let logarithms = pairs.filter { $0.base > 0 && $0.head > 0 }.map { log($0.head / $0.base) }.filter(\.isFinite)
        guard let centre = hodgesLehmann(logarithms) else { return nil }
        ratio = exp(centre)
        interval = bootstrapInterval(of: logarithms, seed: seed, resamples: resamples, estimate: hodgesLehmann)
            .map(Self.exponential)
        probability = signFlipTest(logarithms)
        blocks = logarithms.count
        mostBlocks = signFlipLimit
    }

    /// From two runs of their own: what drifted between them is taken for an effect, unless a noise floor allows for it.
    ///
    /// Hodges–Lehmann's shift of the logarithms, bootstrap of both sides, Mann–Whitney.
    init?(base: [Double], head: [Double], seed: UInt64, resamples: Int) {
        let (from, to) = (Self.logarithms(base), Self.logarithms(head))
        guard let shift = hodgesLehmannShift(from: from, to: to) else { return nil }
        ratio = exp(shift)
        interval = bootstrapInterval(of: from, and: to, seed: seed, resamples: resamples) {
            hodgesLehmannShift(from: $0, to: $1)
        }
        .map(Self.exponential)
        probability = mannWhitneyTest(from, to)
        blocks = min(from.count, to.count)
        mostBlocks = BlockStages.mostOfRun
    }

    /// Of figures above zero; one that is infinite, as a ratio to next to nothing can be, says nothing.
    private static func logarithms(_ values: [Double]) -> [Double] {
        values.filter { $0 > 0 && $0.isFinite }.map { log($0) }
    }

    private static func exponential(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
        exp(range.lowerBound)...exp(range.upperBound)
    }
}
