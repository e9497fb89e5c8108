import OpBenchModel

/// What rows must keep to for figures to be made of them.
public enum RowLimits {
    /// Cells, times backends, times classes: some 400 MB of summary.
    public static let summaryLimit = 400_000
    /// The magnitudes of figures other than 0. What ratios of ratios make of them is still finite; no clock and no counter
    /// comes near.
    public static let magnitudes = 1e-60...1e60

    /// - Throws: `InputError` if a figure is beyond anything that could have been measured.
    public static func checkMagnitudes(_ rows: [SampleRow], file: String) throws(InputError) {
        for row in rows {
            guard let value = row.value, value != 0, !magnitudes.contains(value.magnitude) else { continue }
            throw InputError(
                file: file, path: "column value",
                message: "the figure \(row.metric) of sample \(row.sampleID) is \(value), which no measurement yields",
                remedy: "figures are 0 or from 1e-60 to 1e60; remove the sample")
        }
    }

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

    /// - Throws: `InputError` if a summary would have more rows than it may: one for each cell, backend and class.
    public static func checkSize(ofSummary count: Int, file: String) throws(InputError) {
        guard count > summaryLimit else { return }
        throw InputError(
            file: file, message: "the rows are of more than \(summaryLimit) cells, backends and classes",
            remedy: "measure fewer cells in one run")
    }
}
