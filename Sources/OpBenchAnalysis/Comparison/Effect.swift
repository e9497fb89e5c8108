import Glibc
import OpBenchModel

/// The difference of one figure between two sides: an estimate with its interval and p-value.
struct Effect {
    /// The scale on which the sides are compared.
    enum Scale {
        /// Logarithms of figures above zero, so that differences are ratios.
        case ratio
        /// The figures themselves, if some are 0 and have no ratio. Otherwise a rise from 0 would go unseen.
        case difference
    }

    let scale: Scale
    /// head − base, on the scale.
    var shift: Double
    var interval: ClosedRange<Double>?
    var probability: Double?
    /// The number of replicates, of the smaller side: blocks or, if the programs were linked in several layouts,
    /// layouts.
    var blocks: Int
    /// The least number of blocks with an interval of these tails.
    var fewestBlocks: Int
    /// The largest number of blocks that the test, or a run of reasonable length, can have.
    var mostBlocks: Int

    /// head ÷ base; nil if there is no ratio.
    var ratio: Double? { scale == .ratio ? exp(shift) : nil }
    var ratioInterval: ClosedRange<Double>? {
        scale == .ratio ? interval.map { exp($0.lowerBound)...exp($0.upperBound) } : nil
    }

    /// From blocks with both sides, such as two interleaved builds: drift of a whole block cancels.
    ///
    /// Uses Hodges–Lehmann on the shifts of the units, their Walsh averages, and the exact sign-flip test. The shift of
    /// a unit is the mean of its pairs' shifts.
    init?(pairs: [(base: Double, head: Double, unit: Int)], tails: Tails = .standard) {
        // An infinite figure, such as a ratio to almost nothing, carries no information.
        let pairs = pairs.filter { $0.base.isFinite && $0.head.isFinite }
        scale = Scale(pairs.flatMap { [$0.base, $0.head] })
        let shifts = means(
            of: zip(scale.values(pairs.map(\.base)), scale.values(pairs.map(\.head))).map { $1 - $0 },
            within: pairs.map(\.unit))
        guard let shift = hodgesLehmann(shifts), shift.isFinite else { return nil }
        self.shift = shift
        interval = hodgesLehmannInterval(of: shifts, tails: tails)
        probability = signFlipTest(shifts)
        blocks = shifts.count
        fewestBlocks = fewestForInterval(tail: min(tails.low, tails.high))
        mostBlocks = signFlipLimit
    }

    /// From two separate runs: drift between them counts as an effect.
    ///
    /// Uses Hodges–Lehmann's shift, the differences between both sides, and Mann–Whitney. The value of a unit is the
    /// mean of its values on the scale.
    init?(
        base: [(value: Double, unit: Int)], head: [(value: Double, unit: Int)], tails: Tails = .standard
    ) {
        let (base, head) = (base.filter(\.value.isFinite), head.filter(\.value.isFinite))
        let scale = Scale((base + head).map(\.value))
        let (from, to) = (
            means(of: scale.values(base.map(\.value)), within: base.map(\.unit)),
            means(of: scale.values(head.map(\.value)), within: head.map(\.unit))
        )
        self.scale = scale
        guard let shift = hodgesLehmannShift(from: from, to: to), shift.isFinite else { return nil }
        self.shift = shift
        interval = hodgesLehmannShiftInterval(from: from, to: to, tails: tails)
        probability = mannWhitneyTest(from, to)
        blocks = min(from.count, to.count)
        fewestBlocks = fewestForInterval(tail: min(tails.low, tails.high))
        mostBlocks = BlockStages.mostOfRun
    }

    /// The median of one side alone, which a goal bounds.
    init?(of values: [Double]) {
        let scale = Scale(values)
        let ends = medianInterval(of: values).map { scale.values([$0.lowerBound, $0.upperBound]) }
        guard let centre = median(values) else { return nil }
        self.scale = scale
        shift = scale.values([centre])[0]
        interval = ends.map { $0[0]...$0[1] }
        blocks = values.count
        fewestBlocks = minimumForInterval
        mostBlocks = BlockStages.mostOfRun
    }

    /// A goal's bound, on the scale.
    func bound(_ atMost: Double) -> Double { scale == .ratio ? log(atMost) : atMost }
}

/// The mean of each unit's values, in the order of the units' first values.
func means(of values: [Double], within units: [Int]) -> [Double] {
    var order: [Int] = []
    var sums: [Int: (sum: Double, count: Double)] = [:]
    for (value, unit) in zip(values, units) {
        if sums[unit] == nil { order.append(unit) }
        sums[unit, default: (0, 0)].sum += value
        sums[unit]!.count += 1
    }
    return order.map { sums[$0]!.sum / sums[$0]!.count }
}

extension Effect.Scale {
    fileprivate init(_ values: [Double]) { self = values.allSatisfy { $0 > 0 } ? .ratio : .difference }

    fileprivate func values(_ values: [Double]) -> [Double] { self == .ratio ? values.map { log($0) } : values }
}

/// The worsening, or improvement, up to which a figure counts as unchanged, on the scale of its effect.
struct Margin: Equatable {
    let worse: Double
    let better: Double
    /// The margin relative to the base's figure. Nil if the base is 0, or if the figure cannot get that much worse.
    let relativeWorse: Double?

    /// A goal's bound: nothing is too good.
    init(atMost bound: Double) { (worse, better, relativeWorse) = (bound, .infinity, nil) }

    /// - Parameters:
    ///   - relative: a fraction of the figure.
    ///   - absolute: in the figure's unit. The greater of the two counts.
    ///   - base: the median of the base.
    init(relative: Double, absolute: Double, of base: Double, on scale: Effect.Scale, direction: Metric.Direction) {
        let part = absolute / base.magnitude
        // A fall by a fraction is a greater ratio than a rise by the same fraction, and a fall by the whole is
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
