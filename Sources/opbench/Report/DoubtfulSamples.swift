import OpBenchModel

/// Samples that are kept, but that whoever reads the figures should know of: something else used the machine, or their
/// rounds had not settled.
struct DoubtfulSamples {
    private let noisy: Int
    private let unsteady: Int
    private let total: Int

    init(_ rows: [SampleRow]) {
        func count(_ flag: String) -> Int {
            Set(rows.lazy.filter { $0.flags.contains(flag) }.map(\.sampleID)).count
        }
        noisy = count("noisy")
        unsteady = count("unsteady")
        total = Set(rows.lazy.map(\.sampleID)).count
    }

    /// What to tell; empty if there are none.
    var warnings: [String] {
        var warnings: [String] = []
        if noisy > 0 { warnings.append("noisy: \(noisy) of \(total) samples, while something else used the machine") }
        if unsteady > 0 {
            warnings.append("unsteady: \(unsteady) of \(total) samples, whose rounds still grew or shrank at their end")
        }
        return warnings
    }
}
