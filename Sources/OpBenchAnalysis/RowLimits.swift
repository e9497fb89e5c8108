import OpBenchModel

/// Limits on the rows that figures are computed from.
public enum RowLimits {
    /// Cells, times backends, times classes: about 400 MB of summary.
    public static let summaryLimit = 400_000

    /// - Throws: `InputError` if the rows have more cells, backends and classes than a summary may.
    public static func checkSize(_ rows: [SampleRow], file: String) throws(InputError) {
        struct Place: Hashable {
            var cellID: String
            var backend: BackendID
            var operationClass: String
        }
        var places: Set<Place> = []
        var previous: Place?
        for row in rows {
            let place = Place(cellID: row.cellID, backend: row.backend, operationClass: row.operationClass)
            if place == previous { continue }
            previous = place
            places.insert(place)
            try checkSize(ofSummary: places.count, file: file)
        }
    }

    /// - Throws: `InputError` if a summary would have too many rows: one for each cell, backend and class.
    public static func checkSize(ofSummary count: Int, file: String) throws(InputError) {
        guard count > summaryLimit else { return }
        throw InputError(
            file: file, message: "the rows have more than \(summaryLimit) combinations of cell, backend and class",
            remedy: "measure fewer cells in one run")
    }
}
