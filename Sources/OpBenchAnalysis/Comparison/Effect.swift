import Glibc
import OpBenchModel

/// How one figure differs between two sides: an estimate with its interval and p-value.
struct Effect {
    /// The scale on which the sides are compared.
    enum Scale {
        /// Logarithms of figures above zero, so that differences are ratios.
        case ratio
        /// The figures themselves, where some are 0 and have no ratio. Without them, a rise from 0 would go unseen.
        case difference
    }

    let scale: Scale
    /// head − base, on the scale.
    var shift: Double
    /// The interval of the shift.
    var interval: ClosedRange<Double>?
    var probability: Double?
    /// Blocks behind it: of the smaller side.
    var blocks: Int
    /// How many give an interval of these tails.
    var fewestBlocks: Int
    /// Beyond so many blocks there is no test, or no run that has them in a bearable time.
    var mostBlocks: Int

    /// head ÷ base; nil where there is no ratio.
    var ratio: Double? { scale == .ratio ? exp(shift) : nil }
    var ratioInterval: ClosedRange<Double>? {
        scale == .ratio ? interval.map { exp($0.lowerBound)...exp($0.upperBound) } : nil
    }

    /// From blocks that hold both sides, such as two interleaved builds: drift that hits a whole block cancels.
    ///
    /// Uses Hodges–Lehmann on the shifts of the blocks, their Walsh averages, and the exact sign-flip test.
    init?(pairs: [(base: Double, head: Double)], tails: Tails = .standard) {
        // An infinite figure, such as a ratio to almost nothing, carries no information.
        let pairs = pairs.filter { $0.base.isFinite && $0.head.isFinite }
        scale = Scale(pairs.flatMap { [$0.base, $0.head] })
        let shifts = zip(scale.values(pairs.map(\.base)), scale.values(pairs.map(\.head))).map { $1 - $0 }
        guard let shift = hodgesLehmann(shifts), shift.isFinite else { return nil }
        self.shift = shift
        interval = hodgesLehmannInterval(of: shifts, tails: tails)
        probability = signFlipTest(shifts)
        blocks = shifts.count
        fewestBlocks = fewestForInterval(tail: min(tails.low, tails.high))
        mostBlocks = signFlipLimit
    }

    /// From two runs of their own: what drifted between them is taken for an effect, unless a noise floor allows for it.
    ///
    /// Uses Hodges–Lehmann's shift, the differences between both sides, and Mann–Whitney.
    init?(base: [Double], head: [Double], tails: Tails = .standard) {
        let (base, head) = (base.filter(\.isFinite), head.filter(\.isFinite))
        scale = Scale(base + head)
        let (from, to) = (scale.values(base), scale.values(head))
        guard let shift = hodgesLehmannShift(from: from, to: to), shift.isFinite else { return nil }
        self.shift = shift
        interval = hodgesLehmannShiftInterval(from: from, to: to, tails: tails)
        probability = mannWhitneyTest(from, to)
        blocks = min(from.count, to.count)
        fewestBlocks = fewestForInterval(tail: min(tails.low, tails.high))
        mostBlocks = BlockStages.mostOfRun
    }
}

extension Effect.Scale {
    fileprivate init(_ values: [Double]) { self = values.allSatisfy { $0 > 0 } ? .ratio : .difference }

    fileprivate func values(_ values: [Double]) -> [Double] { self == .ratio ? values.map { log($0) } : values }
}

/// How much worse, or better, a figure may be and still count as the same, on the scale of its effect.
struct Margin: Equatable {
    let worse: Double
    let better: Double
    /// The margin as a part of the base's figure. Nil if the base is 0, or if the figure can never be that much worse.
    let relativeWorse: Double?

    /// - Parameters:
    ///   - relative: a part of the figure.
    ///   - absolute: in the figure's unit. The greater of the two counts.
    ///   - base: the middle figure of the base.
    init(relative: Double, absolute: Double, of base: Double, on scale: Effect.Scale, direction: Metric.Direction) {
        let part = absolute / base.magnitude
        // As a ratio, a fall by some part is more than a rise by the same part, and a fall by the whole or more is
        // infinite.
        let fall = part < 1 ? 1 / (1 - part) - 1 : .infinity
        let (worst, best) =
            switch (scale, direction) {
            case (.difference, _): (part, part)
            case (.ratio, .higher): (fall, part)
            case (.ratio, _): (part, fall)
            }
        let relativeWorse = max(relative, worst)
        self.relativeWorse = relativeWorse.isFinite ? relativeWorse : nil
        switch scale {
        case .difference:
            worse = max(relative * base.magnitude, absolute)
            better = worse
        case .ratio:
            worse = log1p(relativeWorse)
            better = log1p(max(relative, best))
        }
    }
}
