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
