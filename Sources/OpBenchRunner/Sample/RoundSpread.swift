import OpBenchModel

/// The spread of the rounds of a sample: the standard deviation of their total times ÷ the mean, by Welford's recursion.
struct RoundSpread {
    private var rounds = 0
    private var mean = 0.0
    /// The sum of the squared differences from the mean.
    private var squares = 0.0

    mutating func add(_ nanoseconds: Int64) {
        rounds += 1
        let difference = Double(nanoseconds) - mean
        mean += difference / Double(rounds)
        squares += difference * (Double(nanoseconds) - mean)
    }

    /// Nil if there are fewer than two rounds.
    var value: Double? {
        guard rounds > 1, mean > 0 else { return nil }
        return (squares / Double(rounds - 1)).squareRoot() / mean
    }

    func report(operations: Int, into report: inout SampleReport) {
        guard let value else { return }
        report.add(.roundSpread, "mean", value, phase: "total", operations: operations)
    }
}
