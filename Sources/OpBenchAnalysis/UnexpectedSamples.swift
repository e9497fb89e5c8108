import OpBenchModel

/// Samples that fail a run: invalid, crashed or timed out, and not under the workload's `expect`.
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
