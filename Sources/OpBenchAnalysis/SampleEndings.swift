import OpBenchModel

/// How the samples of a run ended, counted row by row: the run's rows need not be in memory.
public struct SampleEndings: Sendable {
    public private(set) var doubtful = DoubtfulSamples()
    /// Whether some sample is invalid, crashed or timed out that its workload does not expect to.
    public private(set) var isAnyBad = false
    private let unexpected: UnexpectedSamples

    /// - Parameter specs: the workloads of the run.
    public init(specs: [WorkloadSpec]) { unexpected = UnexpectedSamples(specs: specs) }

    /// Takes in a row. What it tells of its sample is told by the sample's last row, its `status`.
    public mutating func count(_ row: SampleRow) {
        guard row.metric == Metric.status.name else { return }
        doubtful.count(row)
        if unexpected.contains(row) { isAnyBad = true }
    }
}

/// Samples that fail a run: invalid, crashed or timed out, and not under the workload's `expect`.
public struct UnexpectedSamples: Sendable {
    private var cells: [String: (spec: WorkloadSpec, cell: Cell)] = [:]

    /// - Parameter specs: the workloads of the run.
    public init(specs: [WorkloadSpec]) {
        for spec in specs {
            for cell in spec.cells() { cells[cell.id] = (spec, cell) }
        }
    }

    public func contains(_ row: SampleRow) -> Bool {
        switch row.status {
        case .ok, .unsupported, .skipped: return false
        case .invalid, .crashed, .timeout:
            guard let (spec, cell) = cells[row.cellID] else { return true }
            return spec.expectation(of: row.status, for: row.backend, in: cell) == nil
        }
    }
}

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

/// What to know of a run before its first figure, where something else used the machine nearly all the time.
public enum Disturbance {
    /// From this part of the samples on, a mark beside each row tells less than one sentence above all.
    static let leastPart = 0.75

    /// One sentence; nil where enough samples were undisturbed.
    ///
    /// - Parameters:
    ///   - noisy: how many samples something else disturbed.
    ///   - samples: how many there are.
    public static func sentence(noisy: Int, of samples: Int) -> String? {
        guard samples > 0, Double(noisy) >= Self.leastPart * Double(samples) else { return nil }
        return """
            \(noisy >= samples ? "All" : "Nearly all") samples are noisy: something else used the machine. Times are \
            longer than the backends need, and small differences drown; CPU/op and allocs/op suffer least.
            """
    }
}
