import OpBenchModel

/// What two builds differ in, ranked by what it explains of the difference.
///
/// Everything named changed for certain. All functions are tested together, and so is everything else, so that hardly
/// anything is ever named for equal builds; see `ChanceTest.alpha`.
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
    /// The counts that changed.
    public let counts: [Change]
    /// Waits by reason, in nanoseconds an operation, that changed by a large enough part of the time. Empty if the time
    /// may be the same.
    public let waits: [Change]
    /// How many turns each side had.
    public let turns: (base: Int, head: Int)

    static let leastAllocations = 0.01

    /// - Parameters:
    ///   - base: at least one.
    ///   - head: at least one.
    public init(base: [ExplainedSample], head: [ExplainedSample], by test: ChanceTest) {
        turns = (base.count, head.count)
        let time = Change("time", base: base.map(\.time), head: head.map(\.time), by: test)
        let cpuTime = Change("CPU time", base: base.map(\.cpuTime), head: head.map(\.cpuTime), by: test)
        var cpu = RankedFunctions(base, head, \.cpu, of: cpuTime, by: test)
        var instructions = RankedFunctions(base, head, \.instructions, by: test)
        let allocations = RankedFunctions.changes(
            base.compactMap(\.allocations), head.compactMap(\.allocations), from: Self.leastAllocations, by: test
        ).map(\.change)
        let counts = ExplainedSample.Count.allCases.compactMap { count -> Change? in
            let (ofBase, ofHead) = (base.compactMap { $0.counts[count] }, head.compactMap { $0.counts[count] })
            return ofBase.isEmpty || ofHead.isEmpty ? nil : Change(count.words, base: ofBase, head: ofHead, by: test)
        }
        let waits = Self.waits(
            base.compactMap(\.waits), head.compactMap(\.waits), from: time.base * ChanceTest.leastEffect, by: test)

        cpu?.keepSure(by: test)
        instructions?.keepSure(by: test)
        var adjusted = test.adjusted((allocations + counts + waits).map(\.probability))[...]
        func sure(_ changes: [Change], of least: (Change) -> Double) -> [Change] {
            defer { adjusted = adjusted.dropFirst(changes.count) }
            return zip(changes, adjusted).compactMap { change, probability in
                var change = change
                change.probability = probability
                return change.isSure(of: least(change)) ? change : nil
            }
        }
        self.allocations = sure(allocations) { _ in Self.leastAllocations }
            .sorted { ($1.difference.magnitude, $0.name) < ($0.difference.magnitude, $1.name) }
        self.counts = sure(counts) { $0.base * ChanceTest.leastEffect }
        let sureWaits = sure(waits) { _ in time.base * ChanceTest.leastEffect }
            .sorted { $0.difference.magnitude > $1.difference.magnitude }
        self.waits = time.isSure ? sureWaits : []
        (self.time, self.cpuTime, self.cpu, self.instructions) = (time, cpuTime, cpu, instructions)
    }

    /// - Parameter least: the change that a wait must be able to reach, as for functions.
    private static func waits(
        _ base: [(split: WaitSplit, operations: Int)], _ head: [(split: WaitSplit, operations: Int)],
        from least: Double, by test: ChanceTest
    ) -> [Change] {
        guard !base.isEmpty, !head.isEmpty else { return [] }
        return WaitReason.allCases.compactMap { reason in
            func values(_ side: [(split: WaitSplit, operations: Int)]) -> [Double] {
                side.map { Double($0.split[reason]) / Double(max(1, $0.operations)) }
            }
            let (ofBase, ofHead) = (values(base), values(head))
            let mean = (ofBase + ofHead).reduce(0, +) / Double(ofBase.count + ofHead.count)
            guard mean > 0, mean >= least / 2 else { return nil }
            return Change(reason.words, base: ofBase, head: ofHead, by: test)
        }
    }
}

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
        self.base = median(base) ?? 0
        self.head = median(head) ?? 0
        (difference, interval) = test.shift(base, head)
        probability = test.probability(base, head)
    }

    /// Whether the change is more than chance, and at least this large.
    func isSure(of least: Double) -> Bool { probability < ChanceTest.alpha && difference.magnitude >= least }

    /// Whether the change is more than chance, and large enough to be named.
    public var isSure: Bool { isSure(of: base.magnitude * ChanceTest.leastEffect) }
}

/// A figure's change in the run that is explained, on which a verdict was based.
public struct MeasuredChange: Equatable, Sendable {
    public var name: String
    /// In nanoseconds an operation.
    public var base: Double
    public var head: Double
    public var ratio: Double
    /// The interval of the change; nil for too few blocks.
    public var interval: ClosedRange<Double>?

    public init(name: String, base: Double, head: Double, ratio: Double, interval: ClosedRange<Double>?) {
        (self.name, self.base, self.head, self.ratio, self.interval) = (name, base, head, ratio, interval)
    }
}

/// What was measured of one side in one turn: an unprofiled sample, and the profiles beside it.
public struct ExplainedSample: Sendable {
    /// A profile, and of how many operations it is.
    public struct Part: Sendable {
        public var profile: StackProfile
        public var operations: Int

        public init(_ profile: StackProfile, operations: Int) {
            self.profile = profile
            self.operations = operations
        }

        var totalPerOperation: Double { Double(profile.total) / Double(max(1, operations)) }
    }

    /// What is counted an operation.
    public enum Count: String, CaseIterable, Sendable {
        case futexCalls, voluntarySwitches, involuntarySwitches

        public var words: String {
            switch self {
            case .futexCalls: "futex calls"
            case .voluntarySwitches: "voluntary switches"
            case .involuntarySwitches: "involuntary switches"
            }
        }
    }

    /// In nanoseconds an operation, unprofiled.
    public var time: Double
    /// Of all threads, in nanoseconds an operation, unprofiled.
    public var cpuTime: Double
    /// In nanoseconds.
    public var cpu: Part?
    /// In allocations.
    public var allocations: Part?
    /// In instructions, which were counted where they were asked for.
    public var instructions: Part?
    public var counts: [Count: Double] = [:]
    /// The waits of all operations, in nanoseconds, and of how many they are.
    public var waits: (split: WaitSplit, operations: Int)?

    public init(time: Double, cpuTime: Double) {
        self.time = time
        self.cpuTime = cpuTime
    }
}
