/// How a figure differs between two sides, each measured a few times.
public struct Change: Equatable, Sendable {
    public var name: String
    /// The middle of each side's values.
    public var base: Double
    public var head: Double
    /// Hodges and Lehmann's estimate of the shift, and its interval.
    public var difference: Double
    public var interval: ClosedRange<Double>
    /// The probability that equal sides differ by so much, adjusted if this is one of several changes that are tested.
    public var probability: Double

    /// - Parameters:
    ///   - base: at least one value.
    ///   - head: at least one value.
    init(_ name: String, base: [Double], head: [Double], by test: ChanceTest) {
        self.name = name
        self.base = Self.middle(base)
        self.head = Self.middle(head)
        (difference, interval) = test.shift(base, head)
        probability = test.probability(base, head)
    }

    /// Whether the change is more than chance, and at least this large.
    func isSure(of least: Double) -> Bool { probability < ChanceTest.alpha && difference.magnitude >= least }

    /// Whether the change is more than chance, and large enough to be named.
    public var isSure: Bool { isSure(of: base.magnitude * ChanceTest.leastEffect) }

    private static func middle(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let half = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
    }
}
