/// What two builds differ in, ranked by what it explains of the difference.
public struct Explanation: Sendable {
    /// A function, and what changed in it, in nanoseconds an operation.
    public struct Function: Equatable, Sendable {
        public var change: Change
        /// The change by class of code, the greatest first: the function's own code, and what it called.
        public var parts: [(frameClass: FrameClass, difference: Double)]

        public static func == (left: Function, right: Function) -> Bool {
            left.change == right.change && left.parts.map(\.frameClass) == right.parts.map(\.frameClass)
                && left.parts.map(\.difference) == right.parts.map(\.difference)
        }
    }

    /// Elapsed, in nanoseconds an operation.
    public let time: Change
    /// Of all threads, in nanoseconds an operation.
    public let cpuTime: Change
    /// Those that changed for certain by a twentieth of the change of CPU time or more: in its direction, the greatest
    /// change first, then the other way. With what they had others do; see `AttributedWeights`.
    public let functions: [Function]
    /// What the change of CPU time is more than those of `functions` together; nil without CPU profiles.
    public let unexplained: Double?
    /// By the function that allocates, those that changed by a hundredth of an allocation an operation or more.
    public let allocations: [Change]
    public let counts: [Change]
    /// By reason, in nanoseconds an operation; those that changed for certain.
    public let waits: [Change]
    /// How many turns each side had.
    public let turns: (base: Int, head: Int)

    /// Of so many functions, some always differ by chance: what is less than this share of the change explains nothing.
    static let leastShare = 0.05

    /// - Parameters:
    ///   - base: at least one.
    ///   - head: at least one.
    public init(base: [ExplainedSample], head: [ExplainedSample]) {
        turns = (base.count, head.count)
        time = Change("time", base: base.map(\.time), head: head.map(\.time))
        let cpuTime = Change("CPU time", base: base.map(\.cpuTime), head: head.map(\.cpuTime))
        self.cpuTime = cpuTime
        let sign = cpuTime.difference >= 0 ? 1.0 : -1.0
        let least = cpuTime.difference.magnitude * Self.leastShare
        let functions = Self.changes(base.compactMap(\.cpu), head.compactMap(\.cpu))
            .filter { $0.change.isClear && $0.change.difference.magnitude >= least }
            .sorted {
                (-sign * $0.change.difference, $0.change.name) < (-sign * $1.change.difference, $1.change.name)
            }
        self.functions = functions
        let hasProfiles = base.allSatisfy { $0.cpu != nil } && head.allSatisfy { $0.cpu != nil }
        unexplained =
            hasProfiles ? cpuTime.difference - functions.reduce(0) { $0 + $1.change.difference } : nil
        allocations = Self.changes(base.compactMap(\.allocations), head.compactMap(\.allocations))
            .map(\.change).filter { $0.isClear && $0.difference.magnitude >= 0.01 }
            .sorted { ($1.difference.magnitude, $0.name) < ($0.difference.magnitude, $1.name) }
        counts = ExplainedSample.Count.allCases.compactMap { count in
            let (ofBase, ofHead) = (base.compactMap { $0.counts[count] }, head.compactMap { $0.counts[count] })
            return ofBase.isEmpty || ofHead.isEmpty ? nil : Change(count.words, base: ofBase, head: ofHead)
        }
        waits = Self.waits(base.compactMap(\.waits), head.compactMap(\.waits))
    }

    /// By function, an operation.
    private static func changes(_ base: [ExplainedSample.Part], _ head: [ExplainedSample.Part]) -> [Function] {
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

    private static func waits(
        _ base: [(split: WaitSplit, operations: Int)], _ head: [(split: WaitSplit, operations: Int)]
    ) -> [Change] {
        guard !base.isEmpty, !head.isEmpty else { return [] }
        return WaitReason.allCases.map { reason in
            func values(_ side: [(split: WaitSplit, operations: Int)]) -> [Double] {
                side.map { Double($0.split[reason]) / Double(max(1, $0.operations)) }
            }
            return Change(reason.words, base: values(base), head: values(head))
        }.filter(\.isClear).sorted { $0.difference.magnitude > $1.difference.magnitude }
    }
}
