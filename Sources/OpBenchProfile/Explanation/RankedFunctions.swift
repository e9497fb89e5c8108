/// The functions that a difference of two sides is due to: those that changed for certain and by enough, ranked.
public struct RankedFunctions: Equatable, Sendable {
    /// A function, and what changed in it, an operation. With what it had others do; see `AttributedWeights`.
    public struct Function: Equatable, Sendable {
        public var change: Change
        /// The change by class of code, the greatest first: the function's own code, and what it called.
        public var parts: [(frameClass: FrameClass, difference: Double)]

        public static func == (left: Function, right: Function) -> Bool {
            left.change == right.change && left.parts.map(\.frameClass) == right.parts.map(\.frameClass)
                && left.parts.map(\.difference) == right.parts.map(\.difference)
        }
    }

    /// Of all functions.
    public let total: Change
    /// First the functions that changed in the total's direction, the greatest change first, then the others. Empty if
    /// the total may be the same.
    public private(set) var functions: [Function]
    /// The least change of a function that explains anything.
    private let least: Double

    /// What the total's change is more than those of `functions` together.
    public var unexplained: Double { total.difference - functions.reduce(0) { $0 + $1.change.difference } }

    /// The least share of the change that explains anything.
    static let leastShare = 0.05
    /// The least change in instructions that counts. By chance, counts of instructions differ by less.
    static let leastInstructions = 0.5

    /// Lists all functions that can have changed by enough, to be tested; see `keepSure`.
    ///
    /// - Parameters:
    ///   - part: has weights of the total's unit.
    ///   - total: measured without the profile; nil for the sum of the profile.
    /// - Returns: nil if a sample of either side has no such part.
    init?(
        _ base: [ExplainedSample], _ head: [ExplainedSample], _ part: (ExplainedSample) -> ExplainedSample.Part?,
        of total: Change? = nil, by test: ChanceTest
    ) {
        let (ofBase, ofHead) = (base.compactMap(part), head.compactMap(part))
        guard !ofBase.isEmpty, ofBase.count == base.count, !ofHead.isEmpty, ofHead.count == head.count else {
            return nil
        }
        let unit = ofBase[0].profile.unit
        let total =
            total
            ?? Change(
                unit.rawValue, base: ofBase.map(\.totalPerOperation), head: ofHead.map(\.totalPerOperation), by: test)
        self.total = total
        // Counts are more exact than times.
        let leastEffect =
            unit == .instructions ? Self.leastInstructions : total.base.magnitude * ChanceTest.leastEffect
        least = max(total.difference.magnitude * Self.leastShare, leastEffect)
        functions = Self.changes(ofBase, ofHead, from: least, by: test)
    }

    /// Keeps the functions that changed, with their adjusted probabilities.
    mutating func keepSure(by test: ChanceTest) {
        guard total.isSure(of: least) else {
            functions = []
            return
        }
        let sign = total.difference >= 0 ? 1.0 : -1.0
        let adjusted = test.adjusted(functions.map(\.change.probability))
        for index in functions.indices { functions[index].change.probability = adjusted[index] }
        functions = functions.filter { $0.change.isSure(of: least) }.sorted {
            (-sign * $0.change.difference, $0.change.name) < (-sign * $1.change.difference, $1.change.name)
        }
    }

    /// Changes by function, per operation, in the order of the functions' names.
    ///
    /// - Parameter least: the change that a function must be able to reach, by the mean of all samples of both sides.
    ///   This choice does not see the difference, so it leaves the test valid.
    static func changes(
        _ base: [ExplainedSample.Part], _ head: [ExplainedSample.Part], from least: Double, by test: ChanceTest
    ) -> [Function] {
        guard !base.isEmpty, !head.isEmpty else { return [] }
        func weights(_ parts: [ExplainedSample.Part]) -> [(AttributedWeights, scale: Double)] {
            parts.map { (AttributedWeights($0.profile), 1 / Double(max(1, $0.operations))) }
        }
        let sides = [weights(base), weights(head)]
        let names = Set(sides.joined().flatMap(\.0.functions.keys)).sorted()
        return names.compactMap { name in
            func values(_ side: Int, _ weight: (AttributedWeights.Function) -> Int64) -> [Double] {
                sides[side].map { weights, scale in
                    Double(weights.functions[name].map(weight) ?? 0) * scale
                }
            }
            let (ofBase, ofHead) = (values(0, \.total), values(1, \.total))
            let mean = (ofBase + ofHead).reduce(0, +) / Double(ofBase.count + ofHead.count)
            guard mean >= least / 2 else { return nil }
            let parts = FrameClass.allCases.map { frameClass in
                let part = test.shift(values(0) { $0.parts[frameClass] ?? 0 }, values(1) { $0.parts[frameClass] ?? 0 })
                return (frameClass: frameClass, difference: part.estimate)
            }
            return Function(
                change: Change(name, base: ofBase, head: ofHead, by: test),
                parts: parts.filter { $0.difference != 0 }.sorted {
                    $0.difference.magnitude > $1.difference.magnitude
                })
        }
    }
}
