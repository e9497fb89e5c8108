@testable import OpBenchModel

extension FuzzReader {
    /// All CSV files of a run. Of an input, the first byte says which file, the second how many bytes come at a time; the
    /// file follows.
    static let csv = FuzzReader(
        name: "csv", form: .rows, lengthLimit: 8192,
        words: {
            let names = kinds.flatMap(\.words)
            return Set(names).sorted() + Metric.catalogue.map(\.name) + SampleStatus.allCases.map(\.rawValue)
                + Verdict.allCases.map(\.rawValue) + BackendID.known.map(\.rawValue)
                + [
                    ",", "\"", "\"\"", "\n", "\r\n", "\r", ";", "param_", "param.", "1e400", "1e308", "-0", "+1",
                    "1e-400",
                    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "nan", "inf", "\u{2028}",
                    "\u{301}", "\u{0}", "=1", "##[", "::", "true", "false", "status", "latency", "ns", "lower",
                ]
        },
        seeds: { kinds.enumerated().flatMap { place, kind in kind.seeds.map { [UInt8(place), 0] + Array($0.utf8) } } },
        read: { bytes in
            guard bytes.count >= 2 else { return }
            let kind = kinds[Int(bytes[0]) % kinds.count]
            try kind.read(Array(bytes.dropFirst(2)), bytes[1] == 0 ? .max : Int(bytes[1]))
        })

    /// A file's rows, whichever they are.
    private struct Kind: Sendable {
        let words: [String]
        let seeds: [String]
        let read: @Sendable ([UInt8], _ partLength: Int) throws -> Void

        /// - Parameters:
        ///   - check: what is to be held of rows that were taken.
        init<Row: CSVRow>(
            _: Row.Type, _ examples: [Row],
            check: @escaping @Sendable ([Row]) throws -> Void = { _ in }
        ) {
            words = Row.columns
            seeds = [CSVFile.text(of: examples)]
            read = { bytes, partLength in
                let rows = try FuzzReader.rows(Row.self, bytes, partLength)
                let text = CSVFile.text(of: rows)
                let same = try again(Row.fileName) { try CSVFile.rows(Row.self, text: text, file: Row.fileName) }
                try promise(
                    CSVFile.text(of: same).utf8.elementsEqual(text.utf8),
                    "\(Row.fileName) was another when it was written")
                try promise(same.count == rows.count, "\(Row.fileName) has other rows when it was written")
                try check(rows)
            }
        }
    }

    private static let kinds: [Kind] = [
        Kind(SampleRow.self, samples) { rows in
            let text = CSVFile.text(of: rows)
            try promise(
                try CSVFile.rows(SampleRow.self, text: text, file: "again") == rows,
                "a sample was another when it was read")
        },
        Kind(HistogramRow.self, histograms) { rows in
            for row in rows {
                try promise(row.counts.count == row.upperBoundsNanoseconds.count, "counts without a bucket")
            }
        },
        Kind(SummaryRow.self, [summary]),
        Kind(
            CompareRow.self,
            [
                CompareRow(
                    FigureName(cellID: "w", backend: .engine, metric: "time", phase: "total", stat: "total"),
                    verdict: .pass),
                {
                    var goal = CompareRow.blank
                    (goal.cellID, goal.metric, goal.against, goal.atMost) = ("w", "time", "dispatch", 0.3)
                    goal.verdict = .met
                    return goal
                }(),
            ]),
        Kind(HistoryRow.self, [HistoryRow.blank]),
    ]

    /// The rows of a file that comes in parts. However it comes, it is the same; and of one that is cut off, the whole lines
    /// are those of the file without the rest.
    private static func rows<Row: CSVRow>(
        _: Row.Type, _ bytes: [UInt8], _ partLength: Int
    ) throws -> [Row] {
        let whole = Result { try collect(Row.self, bytes, .max, isTornAllowed: false) }
        let parted = Result { try collect(Row.self, bytes, partLength, isTornAllowed: false) }
        switch (whole, parted) {
        case (.success(let one), .success(let other)):
            try promise(CSVFile.text(of: one.rows) == CSVFile.text(of: other.rows), "the rows depend on the parts")
        case (.failure(let one as InputError), .failure(let other as InputError)):
            try promise(one == other, "the refusal depends on the parts: \(one) and \(other)")
        default: throw BrokenPromise(what: "the parts decide whether the file is taken")
        }
        if let torn = try? collect(Row.self, bytes, partLength, isTornAllowed: true) {
            try promise(torn.lines <= bytes.count, "whole lines of more than there is")
            let kept = try again("what is whole") {
                try collect(Row.self, Array(bytes[..<torn.lines]), .max, isTornAllowed: false)
            }
            try promise(kept.rows.count == torn.rows.count, "what is whole has other rows without the rest")
        }
        return try whole.get().rows
    }

    private static func collect<Row: CSVRow>(
        _: Row.Type, _ bytes: [UInt8], _ partLength: Int, isTornAllowed: Bool
    ) throws -> (rows: [Row], lines: Int) {
        var (rows, rest): ([Row], ArraySlice<UInt8>) = ([], bytes[...])
        func next() throws(InputError) -> [UInt8] {
            defer { rest = rest.dropFirst(partLength) }
            return Array(rest.prefix(partLength))
        }
        let ends = try CSVFile.each(Row.self, file: Row.fileName, isTornAllowed: isTornAllowed, next: next) { row, _ in
            rows.append(row)
        }
        return (rows, ends.lines)
    }

    // MARK: Seeds

    private static let samples: [SampleRow] = [
        (Metric.time, "total", "total"), (.startLatency, "p99", ""), (.status, "", ""),
    ]
    .map { metric, stat, phase in
        SampleRow(
            runID: "r", sampleID: "00001-latency", timestampUTC: "2026-01-02T03:04:05.678Z", workload: "w",
            cellID: "w items=10", backend: .engine, block: 3, position: 1, phase: phase, iteration: nil,
            operationClass: "priority=low", status: .ok, flags: [.noisy, .short], metric: metric.name, stat: stat,
            value: metric.name == Metric.status.name ? nil : 123.5, operations: 10, notes: "a, \"b\"\nc",
            parameters: ["items": "10", "form": "closure"])
    }

    private static let histograms = [
        HistogramRow(
            workload: "w", cellID: "w items=10", backend: .engine, sampleID: "00001-latency", stage: "start",
            upperBoundsNanoseconds: [10, 1023], counts: [1, .max]),
        HistogramRow(
            workload: "w", cellID: "w items=10", backend: .engine, sampleID: "00001-latency", stage: "end",
            upperBoundsNanoseconds: [], counts: []),
    ]

    private static let summary: SummaryRow = {
        var row = SummaryRow(
            runID: "r", workload: "w", cellID: "w items=10", backend: .engine, status: .ok, samples: 7,
            parameters: ["items": "10"])
        row[.time].value = 250.5
        row[.operationThroughput].value = 4e6
        (row[.timeRatio].value, row.ratioTo) = (0.3, .dispatch)
        row.modes = Modes(low: 240.5, high: 301, highSamples: 3)
        return row
    }()
}
