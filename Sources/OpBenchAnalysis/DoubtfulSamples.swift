import OpBenchModel

/// Samples that are kept, but that whoever reads the figures should know of: something else used the machine, or their
/// rounds had not settled.
public struct DoubtfulSamples {
    public let noisy: Int
    public let unsteady: Int
    /// All samples.
    public let total: Int

    public init(_ rows: [SampleRow]) {
        func count(_ flag: String) -> Int {
            Set(rows.lazy.filter { $0.flags.contains(flag) }.map(\.sampleID)).count
        }
        noisy = count("noisy")
        unsteady = count("unsteady")
        total = Set(rows.lazy.map(\.sampleID)).count
    }
}
