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
    /// In the direction of the total's change the greatest first, then the other way.
    public let functions: [Function]
    /// What the total's change is more than those of `functions` together.
    public let unexplained: Double

    /// Of so many functions, some always differ by chance: what is less than this share of the change explains nothing.
    static let leastShare = 0.05
    /// Counts of instructions differ by chance so little that also where nothing changed some differ for certain.
    static let leastInstructions = 0.5

    /// - Parameters:
    ///   - part: has weights of the total's unit.
    ///   - total: measured without the profile; nil for the sum of the profile.
    /// - Returns: nil if a sample of either side has no such part.
    init?(
        _ base: [ExplainedSample], _ head: [ExplainedSample], _ part: (ExplainedSample) -> ExplainedSample.Part?,
        of total: Change? = nil
    ) {
        let (ofBase, ofHead) = (base.compactMap(part), head.compactMap(part))
        guard !ofBase.isEmpty, ofBase.count == base.count, !ofHead.isEmpty, ofHead.count == head.count else {
            return nil
        }
        let unit = ofBase[0].profile.unit
        let total =
            total
            ?? Change(unit.rawValue, base: ofBase.map(\.totalPerOperation), head: ofHead.map(\.totalPerOperation))
        let sign = total.difference >= 0 ? 1.0 : -1.0
        let least = max(
            total.difference.magnitude * Self.leastShare, unit == .instructions ? Self.leastInstructions : 0)
        let functions = Self.changes(ofBase, ofHead)
            .filter { $0.change.isClear && $0.change.difference.magnitude >= least }
            .sorted {
                (-sign * $0.change.difference, $0.change.name) < (-sign * $1.change.difference, $1.change.name)
            }
        self.total = total
        self.functions = functions
        unexplained = total.difference - functions.reduce(0) { $0 + $1.change.difference }
    }

    /// By function, an operation; all of them, in no order.
    static func changes(_ base: [ExplainedSample.Part], _ head: [ExplainedSample.Part]) -> [Function] {
        guard !base.isEmpty, !head.isEmpty else { return [] }
        func weights(_ parts: [ExplainedSample.Part]) -> [(AttributedWeights, scale: Double)] {
            parts.map { (AttributedWeights($0.profile), 1 / Double(max(1, $0.operations))) }
        }
        let sides = [weights(base), weights(head)]
        let names = Set(sides.joined().flatMap(\.0.functions.keys))
        return names.map { name in
            func values(_ side: Int, _ weight: (AttributedWeights.Function) -> Int64) -> [Double] {
                sides[side].map { weights, scale in
                    Double(weights.functions[name].map(weight) ?? 0) * scale
                }
            }
            let parts = FrameClass.allCases.map { frameClass in
                let change = Change(
                    frameClass.words, base: values(0) { $0.parts[frameClass] ?? 0 },
                    head: values(1) { $0.parts[frameClass] ?? 0 })
                return (frameClass: frameClass, difference: change.difference)
            }
            return Function(
                change: Change(name, base: values(0, \.total), head: values(1, \.total)),
                parts: parts.filter { $0.difference != 0 }.sorted {
                    $0.difference.magnitude > $1.difference.magnitude
                })
        }
    }
}
