extension Scenario {
    /// Few kinds of operations, and very many of them.
    static let crowds: [Scenario] = [
        Scenario(
            "pairs", "an operation and one that depends on it: no wake-up is lost (contract E25)", unit: "pairs",
            size: 100_000, rounds: 100, testSize: 1_000, testRounds: 20, body: pairs),
        Scenario(
            "sleepers", "operations that sleep: limits are kept, and no more threads than 512 (N2, N13)",
            size: 10_000, rounds: 1, testSize: 2_000, testRounds: 1, body: sleepers),
    ]
}
