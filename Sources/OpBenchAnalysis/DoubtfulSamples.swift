import OpBenchModel

/// The number of samples during which something else used the machine: they are kept but need care. A repeated sample
/// counts once, as it was the last time.
public struct DoubtfulSamples: Sendable {
    public private(set) var noisy = 0
    public private(set) var repeated = 0
    /// The number of all samples that were taken.
    public private(set) var total = 0

    /// - Parameter runs: the rows of each run.
    public init(_ runs: [[SampleRow]]) {
        for rows in runs {
            let superseded = SupersededSamples.ids(in: rows)
            let taken = rows.lazy.filter { ![.unsupported, .skipped].contains($0.status) }
                .filter { !superseded.contains($0.sampleID) }
            noisy += Set(taken.filter { $0.flags.contains(.noisy) }.map(\.sampleID)).count
            repeated += superseded.count
            total += Set(taken.map(\.sampleID)).count
        }
    }
}

/// A warning before a run's first figure, if something else used the machine nearly all the time.
public enum Disturbance {
    /// From this fraction of the samples on, one sentence above all rows replaces a mark beside each.
    static let leastPart = 0.75

    /// One sentence; nil if enough samples were undisturbed.
    ///
    /// - Parameters:
    ///   - noisy: the number of disturbed samples.
    ///   - samples: the number of samples.
    public static func sentence(noisy: Int, of samples: Int) -> String? {
        guard samples > 0, Double(noisy) >= Self.leastPart * Double(samples) else { return nil }
        return """
            \(noisy >= samples ? "All" : "Nearly all") samples are noisy: something else used the machine. Times are \
            longer than the backends need, and small differences drown; CPU/op and allocs/op suffer least.
            """
    }
}

/// Finds samples that fail a run: invalid, crashed or timed out, and not expected by the workload's `expect`.
public struct UnexpectedSamples: Sendable {
    private var cells: [String: (spec: WorkloadSpec, cell: Cell)] = [:]

    /// - Parameter specs: the workloads of the run.
    public init(specs: [WorkloadSpec]) {
        for spec in specs {
            for cell in spec.cells { cells[cell.id] = (spec, cell) }
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
