/// Where the rows of each cell lie in a `samples.csv` that may grow. A cell's rows are read alone, so that no more is in
/// memory at once than one cell's, of the millions that a run may have.
public struct CellIndex: Sendable {
    public let file: String
    /// The cells in the order in which they first appear.
    public private(set) var cells: [String] = []
    /// The bytes of each cell's rows; rows that follow each other are one range.
    private var ranges: [String: [Range<Int>]] = [:]
    /// The bytes that were looked at, all of whole rows; 0 before the header.
    private var end = 0
    private var header = 0

    public init(file: String) { self.file = file }

    /// Takes in the rows that were added since.
    ///
    /// - Parameter body: receives each of them.
    /// - Returns: the cells that they are of.
    /// - Throws: `InputError` as `CSVFile.read` does.
    @discardableResult
    public mutating func update(_ body: (SampleRow) -> Void = { _ in }) throws(InputError) -> Set<String> {
        // Read are the header, where it is known, and what lies behind the end.
        let (isFirst, skipped) = (header == 0, end - header)
        var found: [(cell: String, range: Range<Int>)] = []
        var start = end
        let ends = try CSVFile.each(SampleRow.self, of: file, parts: [0..<header, end..<Int.max]) { row, readBytes in
            let rowEnd = readBytes + skipped
            if found.last?.cell == row.cellID {
                found[found.count - 1].range = found[found.count - 1].range.lowerBound..<rowEnd
            } else {
                found.append((row.cellID, start..<rowEnd))
            }
            start = rowEnd
            body(row)
        }
        (header, end) = (ends.header, ends.lines + skipped)
        if isFirst, let first = found.first { found[0].range = header..<first.range.upperBound }
        for (cell, range) in found {
            if ranges[cell] == nil { cells.append(cell) }
            ranges[cell, default: []].append(range)
        }
        return Set(found.map { $0.cell })
    }

    /// The rows of a cell, as far as they were taken in.
    ///
    /// - Throws: `InputError` as `CSVFile.read` does.
    public func rows(of cell: String) throws(InputError) -> [SampleRow] {
        var rows: [SampleRow] = []
        try CSVFile.each(SampleRow.self, of: file, parts: [0..<header] + (ranges[cell] ?? [])) { row, _ in
            rows.append(row)
        }
        return rows
    }
}
