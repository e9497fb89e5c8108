import OpBenchModel

/// The differences between two builds, or two backends of one build, ranked by the part of the total difference that they explain.
///
/// Every reported change is significant. All functions are tested together, and so are all classes of code, the slowest
/// operations of all classes, and everything else, so that almost nothing is reported for equal sides; see
/// `ChanceTest.alpha`.
public struct Explanation: Sendable {
    /// Elapsed time, in nanoseconds per operation.
    public let time: Change
    /// CPU time of all threads, in nanoseconds per operation.
    public let cpuTime: Change
    /// The functions behind the change of CPU time; nil if a turn has no CPU profile.
    public let cpu: RankedFunctions?
    /// Allocation sites, by the allocating function, that changed by at least a hundredth of an allocation per
    /// operation.
    public let allocations: [Change]
    /// The counts that changed by at least a hundredth per operation.
    public let counts: [Change]
    /// Waits by reason, in nanoseconds per operation, that changed by a large enough part of the time. Empty if the
    /// time did not change significantly.
    public let waits: [Change]
    /// The classes of operations of which the slowest changed.
    public let tails: [ExplainedTail]
    public let backends: ExplainedBackends
    /// The number of turns of each side.
    public let turns: Int

    /// The least reported change of allocations and other counts, per operation.
    static let leastCount = 0.01

    /// - Parameters:
    ///   - base: at least one sample.
    ///   - head: at least one sample.
    public init(base: [ExplainedSample], head: [ExplainedSample], on backends: ExplainedBackends, by test: ChanceTest) {
        self.backends = backends
        turns = base.count
        let time = Change("time", base: base.map(\.time), head: head.map(\.time), by: test)
        let cpuTime = Change("CPU time", base: base.map(\.cpuTime), head: head.map(\.cpuTime), by: test)
        var cpu = RankedFunctions(base, head, on: backends, \.cpu, of: cpuTime, by: test)
        let allocations = AttributedSides(
            base.compactMap(\.allocations), head.compactMap(\.allocations), on: backends
        ).functions(from: Self.leastCount, by: test).map(\.change)
        let counts = ExplainedSample.Count.allCases.compactMap { count -> Change? in
            let (ofBase, ofHead) = (base.compactMap { $0.counts[count] }, head.compactMap { $0.counts[count] })
            return ofBase.isEmpty || ofHead.isEmpty ? nil : Change(count.words, base: ofBase, head: ofHead, by: test)
        }
        let leastWait = max(time.base, time.head) * ChanceTest.leastEffect
        let waits = Self.waits(base.compactMap(\.waits), head.compactMap(\.waits), from: leastWait, by: test)

        cpu?.keepSure(by: test)
        var tested = test.tested(allocations + counts + waits)[...]
        func sure(_ changes: [Change], of least: (Change) -> Double) -> [Change] {
            defer { tested = tested.dropFirst(changes.count) }
            return tested.prefix(changes.count).filter { $0.isSure(of: least($0)) }
        }
        self.allocations = sure(allocations) { _ in Self.leastCount }
            .sorted { ($1.difference.magnitude, $0.name) < ($0.difference.magnitude, $1.name) }
        self.counts = sure(counts) { max($0.base * ChanceTest.leastEffect, Self.leastCount) }
        let sureWaits = sure(waits) { _ in leastWait }
            .sorted { $0.difference.magnitude > $1.difference.magnitude }
        self.waits = time.isSure ? sureWaits : []
        tails = ExplainedTail.changes(base.map(\.tails), head.map(\.tails), by: test)
        (self.time, self.cpuTime, self.cpu) = (time, cpuTime, cpu)
    }

    /// - Parameter least: the change that a wait must be able to reach.
    private static func waits(
        _ base: [(split: WaitSplit, operations: Int)], _ head: [(split: WaitSplit, operations: Int)],
        from least: Double, by test: ChanceTest
    ) -> [Change] {
        WaitReason.allCases.compactMap { reason in
            func values(_ side: [(split: WaitSplit, operations: Int)]) -> [Double] {
                side.map { Double($0.split[reason]) / Double(max(1, $0.operations)) }
            }
            return Change(reason.words, base: values(base), head: values(head), from: least, by: test)
        }
    }
}

/// The difference of a figure between two sides, each measured several times.
public struct Change: Equatable, Sendable {
    public var name: String
    /// The median of each side's values.
    public var base: Double
    public var head: Double
    /// The Hodges–Lehmann estimate of the shift, and its interval.
    public var difference: Double
    public var interval: ClosedRange<Double>
    /// The p-value: the probability of such a difference between equal sides, adjusted for the number of tested
    /// changes.
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

    /// The same if the change can be large enough, judged by the mean of all values of both sides; nil if it cannot, or
    /// a side has no values. This choice is independent of the difference, so the test stays valid.
    init?(_ name: String, base: [Double], head: [Double], from least: Double, by test: ChanceTest) {
        guard !base.isEmpty, !head.isEmpty else { return nil }
        let mean = (base + head).reduce(0, +) / Double(base.count + head.count)
        guard mean > 0, mean >= least / 2 else { return nil }
        self.init(name, base: base, head: head, by: test)
    }

    /// Whether the change is significant, and at least this large.
    func isSure(of least: Double) -> Bool { probability < ChanceTest.alpha && difference.magnitude >= least }

    /// Whether the change is significant, and large enough to be reported.
    public var isSure: Bool { isSure(of: base.magnitude * ChanceTest.leastEffect) }
}

/// A figure's change in the explained run, which a verdict was based on.
public struct MeasuredChange: Equatable, Sendable {
    public var name: String
    /// Nanoseconds per operation.
    public var base: Double
    public var head: Double
    public var ratio: Double
    /// The interval of the change; nil if there are too few blocks.
    public var interval: ClosedRange<Double>?

    public init(name: String, base: Double, head: Double, ratio: Double, interval: ClosedRange<Double>?) {
        (self.name, self.base, self.head, self.ratio, self.interval) = (name, base, head, ratio, interval)
    }
}

/// The measurements of one side in one turn: an unprofiled sample, and profiles.
public struct ExplainedSample: Sendable {
    /// A profile with its number of operations.
    public struct Part: Sendable {
        public var profile: StackProfile
        public var operations: Int

        public init(_ profile: StackProfile, operations: Int) {
            self.profile = profile
            self.operations = operations
        }

        var totalPerOperation: Double { Double(profile.total) / Double(max(1, operations)) }
    }

    /// Events that are counted per operation.
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

    /// Elapsed time, in nanoseconds per operation, unprofiled.
    public var time: Double
    /// CPU time of all threads, in nanoseconds per operation, unprofiled.
    public var cpuTime: Double
    /// CPU time in nanoseconds.
    public var cpu: Part?
    /// Allocations.
    public var allocations: Part?
    public var counts: [Count: Double] = [:]
    /// The waits of all operations, in nanoseconds, and the number of operations.
    public var waits: (split: WaitSplit, operations: Int)?
    /// The slowest operations of each class, from the same trace.
    public var tails: [Tail] = []

    public init(time: Double, cpuTime: Double) {
        self.time = time
        self.cpuTime = cpuTime
    }
}
