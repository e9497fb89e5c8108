/// What two builds differ in, ranked by what it explains of the difference.
public struct Explanation: Sendable {
    /// Elapsed, in nanoseconds an operation.
    public let time: Change
    /// Of all threads, in nanoseconds an operation.
    public let cpuTime: Change
    /// What the change of CPU time is due to; nil if a turn has no CPU profile.
    public let cpu: RankedFunctions?
    /// The same of counted instructions, an operation; nil if a turn did not count them.
    public let instructions: RankedFunctions?
    /// By the function that allocates, those that changed by a hundredth of an allocation an operation or more.
    public let allocations: [Change]
    public let counts: [Change]
    /// By reason, in nanoseconds an operation; those that changed for certain.
    public let waits: [Change]
    /// How many turns each side had.
    public let turns: (base: Int, head: Int)

    /// - Parameters:
    ///   - base: at least one.
    ///   - head: at least one.
    public init(base: [ExplainedSample], head: [ExplainedSample]) {
        turns = (base.count, head.count)
        time = Change("time", base: base.map(\.time), head: head.map(\.time))
        let cpuTime = Change("CPU time", base: base.map(\.cpuTime), head: head.map(\.cpuTime))
        self.cpuTime = cpuTime
        cpu = RankedFunctions(base, head, \.cpu, of: cpuTime)
        instructions = RankedFunctions(base, head, \.instructions)
        allocations = RankedFunctions.changes(base.compactMap(\.allocations), head.compactMap(\.allocations))
            .map(\.change).filter { $0.isClear && $0.difference.magnitude >= 0.01 }
            .sorted { ($1.difference.magnitude, $0.name) < ($0.difference.magnitude, $1.name) }
        counts = ExplainedSample.Count.allCases.compactMap { count in
            let (ofBase, ofHead) = (base.compactMap { $0.counts[count] }, head.compactMap { $0.counts[count] })
            return ofBase.isEmpty || ofHead.isEmpty ? nil : Change(count.words, base: ofBase, head: ofHead)
        }
        waits = Self.waits(base.compactMap(\.waits), head.compactMap(\.waits))
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
