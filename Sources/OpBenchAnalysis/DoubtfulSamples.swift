import OpBenchModel

/// Samples that are kept, but that whoever reads the figures should know of: something else used the machine, or their
/// rounds had not settled.
public struct DoubtfulSamples: Sendable {
    public private(set) var noisy = 0
    public private(set) var unsteady = 0
    /// All samples.
    public private(set) var total = 0

    init() {}

    /// Counts a sample by one of its rows, all of which have its flags.
    mutating func count(_ row: SampleRow) {
        total += 1
        if row.flags.contains("noisy") { noisy += 1 }
        if row.flags.contains("unsteady") { unsteady += 1 }
    }

    public init(_ rows: [SampleRow]) {
        func count(_ flag: String) -> Int {
            Set(rows.lazy.filter { $0.flags.contains(flag) }.map(\.sampleID)).count
        }
        noisy = count("noisy")
        unsteady = count("unsteady")
        total = Set(rows.lazy.map(\.sampleID)).count
    }
}
