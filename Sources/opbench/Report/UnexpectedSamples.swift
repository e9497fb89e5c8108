import OpBenchModel

/// Samples that fail a run: invalid, crashed or timed out, and not under the workload's `expect`.
struct UnexpectedSamples {
    private var cells: [String: (spec: WorkloadSpec, cell: Cell)] = [:]

    init(specs: [WorkloadSpec]) {
        for spec in specs {
            for cell in spec.cells() { cells[cell.id] = (spec, cell) }
        }
    }

    func contains(_ row: SampleRow) -> Bool {
        switch row.status {
        case .ok, .unsupported, .skipped: return false
        case .invalid, .crashed, .timeout:
            guard let (spec, cell) = cells[row.cellID] else { return true }
            return spec.expectation(of: row.status, for: row.backend, in: cell) == nil
        }
    }
}
