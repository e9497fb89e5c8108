/// How a figure differs between two sides, each measured a few times.
public struct Change: Equatable, Sendable {
    public var name: String
    /// The middle of each side's values.
    public var base: Double
    public var head: Double
    /// Hodges and Lehmann's estimate of the shift: the median of the differences of all pairs of a value of each side.
    public var difference: Double
    /// The least and the greatest of those differences. Of n and m values it holds the true shift with a probability of
    /// 1 − 2 / C(n + m, n): 90 % for three and three.
    public var interval: ClosedRange<Double>

    /// Whether the interval leaves no change out: every value of one side is beyond all of the other's.
    public var isClear: Bool { !interval.contains(0) }

    /// - Parameters:
    ///   - base: at least one value.
    ///   - head: at least one value.
    public init(_ name: String, base: [Double], head: [Double]) {
        self.name = name
        let differences = head.flatMap { head in base.map { head - $0 } }
        self.base = Self.middle(base)
        self.head = Self.middle(head)
        difference = Self.middle(differences)
        interval = (differences.min() ?? 0)...(differences.max() ?? 0)
    }

    private static func middle(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        let half = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
    }
}
