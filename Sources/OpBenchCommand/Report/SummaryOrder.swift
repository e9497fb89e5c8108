import OpBenchModel

/// Brings a summary into the order of the workload files: samples are taken in random order.
struct SummaryOrder: Sendable {
    private var cells: [String: Int] = [:]
    private var backends: [String: [BackendID: Int]] = [:]

    init(specs: [WorkloadSpec]) {
        for spec in specs {
            for cell in spec.cells { cells[cell.id] = cells.count }
            backends[spec.name] = Dictionary(zip(spec.backends, 0...)) { first, _ in first }
        }
    }

    /// By cell and backend; the classes of one backend keep their order, and so does what the files do not have.
    func sorted(_ rows: [SummaryRow]) -> [SummaryRow] {
        rows.enumerated().map { offset, row in (place: place(of: row, offset), row: row) }
            .sorted { $0.place < $1.place }
            .map(\.row)
    }

    private func place(of row: SummaryRow, _ offset: Int) -> (cell: Int, backend: Int, offset: Int) {
        (cells[row.cellID] ?? .max, backends[row.workload]?[row.backend] ?? .max, offset)
    }
}
