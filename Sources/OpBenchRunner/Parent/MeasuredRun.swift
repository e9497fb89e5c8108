import OpBenchModel

/// A run with its rows: what a `PlanRunner` returns, and what the run's folder holds afterwards.
public struct MeasuredRun: Sendable {
    /// The name that finds it.
    public let name: String
    /// The folder of its files.
    public internal(set) var folder: String
    /// All rows, in the order in which they were saved.
    public let samples: [SampleRow]
    /// Nil if only a samples.csv was named.
    public internal(set) var facts: RunFacts?
    /// The number of samples that this process took, including repeats of noisy ones.
    var samplesTaken = 0

    public init(_ name: String, in folder: String, samples: [SampleRow], facts: RunFacts?) {
        (self.name, self.folder, self.samples, self.facts) = (name, folder, samples, facts)
    }

    /// The run in a folder.
    ///
    /// - Throws: `InputError` if its rows or its description cannot be read.
    public static func read(_ folder: String) throws(InputError) -> MeasuredRun {
        MeasuredRun(
            folder, in: folder,
            samples: try CSVFile.read(SampleRow.self, file: "\(folder)/\(SampleRow.fileName)"),
            facts: try RunFacts.read(in: folder))
    }
}
