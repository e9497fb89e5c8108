/// A stress program: what one round of it does follows from its seed and its size, as far as threads let it.
public struct Scenario: Sendable {
    public let name: String
    public let summary: String
    /// The unit of a round's size.
    public let unit: String
    /// A round's size, and the rounds of one turn, where there is time.
    public let size: Int
    public let roundsPerTurn: Int
    /// The same for the tests, which have some seconds.
    public let testSize: Int
    public let testRounds: Int
    private let body: @Sendable (StressRun) -> Void

    init(
        _ name: String, _ summary: String, unit: String = "operations", size: Int, rounds: Int, testSize: Int,
        testRounds: Int, body: @escaping @Sendable (StressRun) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.unit = unit
        self.size = size
        roundsPerTurn = rounds
        self.testSize = testSize
        self.testRounds = testRounds
        self.body = body
    }

    /// Plays one round. A hang prints the state of affairs and aborts the process.
    public func play(seed: UInt64, size: Int) -> Outcome {
        let run = StressRun(scenario: name, seed: seed, size: size)
        CrashNote.enter(run)
        Watchdog.watch(run) { body(run) }
        CrashNote.leave()
        // The description holds operations, and they hold the run.
        run.describe { "" }
        return Outcome(violations: run.violations, operations: run.operations, notes: run.notes)
    }

    /// The result of a round.
    public struct Outcome: Sendable {
        /// The engine's actions that the reference model does not allow, in words.
        public let violations: [String]
        public let operations: Int
        /// Figures of interest, such as a makespan.
        public let notes: [String]
    }

    public static func named(_ name: String) -> Scenario? { all.first { $0.name == name } }

    public static let all: [Scenario] = programs + histories + crowds
}
