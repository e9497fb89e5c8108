/// The histograms of a run, in whichever version they were written.
public enum HistogramFile {
    /// Reads a `histograms.csv`: one row for each histogram, in the buckets of `LatencyBuckets`.
    ///
    /// - Parameters:
    ///   - file: of any version.
    ///   - samples: the run's, which tell the cells and backends that a file of version 1 does not. Histograms of other
    ///     samples are left out of such a file.
    /// - Throws: `InputError` as `CSVFile.read` does.
    public static func read(_ file: String, samples: [SampleRow]) throws(InputError) -> [HistogramRow] {
        var rows: [HistogramRow] = []
        try CSVFile.each(HistogramRow.self, of: file) { row, _ in add(row, to: &rows) }
        return completed(rows, samples: samples)
    }

    /// Adds the next row of a file to those before it.
    static func add(_ row: HistogramRow, to rows: inout [HistogramRow]) {
        guard let last = rows.last, row.isOfSameHistogram(as: last) else { return rows.append(row) }
        rows[rows.count - 1].upperBoundsNanoseconds += row.upperBoundsNanoseconds
        rows[rows.count - 1].counts += row.counts
    }

    /// All rows of a file, those of version 1 with what their samples tell.
    static func completed(_ rows: [HistogramRow], samples: [SampleRow]) -> [HistogramRow] {
        guard rows.contains(where: \.cellID.isEmpty) else { return rows }
        let owners = Dictionary(samples.map { ($0.sampleID, $0) }) { first, _ in first }
        return rows.compactMap { row in owners[row.sampleID].map { row.completed(by: $0) } }
    }
}

extension HistogramRow {
    fileprivate func isOfSameHistogram(as other: HistogramRow) -> Bool {
        sampleID == other.sampleID && stage == other.stage && operationClass == other.operationClass
    }

    fileprivate func completed(by sample: SampleRow) -> HistogramRow {
        let merged = LatencyBuckets.merged(buckets.map { (upperBound: $0, count: $1) })
        return HistogramRow(
            workload: sample.workload, cellID: sample.cellID, backend: sample.backend, side: sample.side,
            sampleID: sampleID, stage: stage, operationClass: operationClass,
            upperBoundsNanoseconds: merged.map(\.upperBound), counts: merged.map(\.count))
    }
}
