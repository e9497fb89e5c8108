import OpBenchModel

/// What the time stamps of a latency sample do to what they time: rounds with them against rounds without, in turn, in
/// the same process.
struct SelfPerturbation {
    /// Rounds without stamps are taken until they have lasted this long.
    let limitNanoseconds: Int64
    private var plainNanoseconds: Int64 = 0
    private var ratios: [Double] = []

    init(limitNanoseconds: Int64) { self.limitNanoseconds = limitNanoseconds }

    /// Takes a round without stamps beside one with them, unless enough were taken.
    mutating func compare(with stamped: Round, takePlain: () -> Round) {
        guard ratios.isEmpty || plainNanoseconds < limitNanoseconds else { return }
        let plain = takePlain()
        plainNanoseconds += plain.total
        ratios.append(Double(stamped.total) / Double(max(1, plain.total)))
    }

    /// The median over the pairs; `operations` are those of one round.
    var ratio: Double? { ratios.isEmpty ? nil : ratios.sorted()[ratios.count / 2] }

    func report(operations: Int, into report: inout SampleReport) {
        guard let ratio else { return }
        report.add(.selfPerturbation, "p50", ratio, operations: operations * ratios.count)
    }
}
