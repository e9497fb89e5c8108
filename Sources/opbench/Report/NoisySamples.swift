import OpBenchModel

/// Samples during which something else used the machine: they are kept, and whoever reads the figures should know.
struct NoisySamples {
    private let noisy: Int
    private let total: Int

    init(_ rows: [SampleRow]) {
        noisy = Set(rows.lazy.filter { $0.flags.contains("noisy") }.map(\.sampleID)).count
        total = Set(rows.lazy.map(\.sampleID)).count
    }

    /// What to tell; nil if there are none.
    var warning: String? {
        guard noisy > 0 else { return nil }
        return "noisy: \(noisy) of \(total) samples, while something else used the machine"
    }
}
