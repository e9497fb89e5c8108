/// A recorded run, ready for export to other tools.
public struct ExportedRun: Sendable {
    public var runID: String
    /// ISO 8601, UTC.
    public var startedUTC: String
    public var commit: String
    public var summary: [SummaryRow]
    /// The throughput of every sample behind a backend's row of the summary, by block; empty if no sample reports it.
    public var rates: @Sendable (SummaryRow) -> [Double]

    public init(
        runID: String, startedUTC: String, commit: String, summary: [SummaryRow],
        rates: @escaping @Sendable (SummaryRow) -> [Double]
    ) {
        self.runID = runID
        self.startedUTC = startedUTC
        self.commit = commit
        self.summary = summary
        self.rates = rates
    }
}

/// The export formats.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// A CSV file with one line per run, and the configuration with which Apache Otava reads it.
    case otava
    case otavaConfig = "otava-config"
    /// The format of JMH's `-rf json`.
    case jmh
    /// The format of github-action-benchmark's tool `customSmallerIsBetter`.
    case githubActionBenchmark = "github-action-benchmark"
    /// The Bencher Metric Format.
    case bencher
    /// The text format of Prometheus.
    case prometheus

    /// Whether the format holds several runs; otherwise it holds one.
    public var isHistory: Bool { self == .otava || self == .otavaConfig }
}

extension Figure {
    /// The unit as other tools write it: `ns/op`, `allocations/op`.
    var exportedUnit: String {
        let unit =
            switch self.unit {
            case .nanoseconds, .bytes, .perSecond: unit.rawValue
            case .count: metric.name
            case .ratio: "ratio"
            }
        return unit + (basis == .operation && !isRatio ? "/op" : "")
    }
}

extension SummaryRow {
    /// Cell, backend and class as one name.
    var exportedName: String {
        ([cellID, backend.rawValue] + (operationClass.isEmpty ? [] : [operationClass])).joined(separator: " ")
    }

    /// The figures worth a curve over time, without those that other tools cannot read: figures so small that their
    /// inverse is infinite, for example.
    var exportedFigures: [(figure: Figure, estimate: Estimate)] {
        guard status == .ok else { return [] }
        return Figure.tabled.filter { $0.exportedName != nil }.compactMap { figure in
            var estimate = comparable(figure)
            guard estimate.value?.isFinite == true else { return nil }
            if ![estimate.low, estimate.high].allSatisfy({ $0?.isFinite != false }) {
                (estimate.low, estimate.high) = (nil, nil)
            }
            return (figure, estimate)
        }
    }
}

/// A history of runs for Apache Otava, which finds the change points of a series.
public enum OtavaExport {
    /// The name of the test in the configuration.
    static let testName = "opbench"
    /// The data file that the configuration names.
    static let dataFile = "history.csv"
    private static let attributes = ["commit", "run_id"]

    /// One line per run, in order of time, and one column for each figure that all runs have: Otava takes no gaps.
    public static func data(_ runs: [ExportedRun]) -> String {
        let columns = sharedColumns(of: runs)
        let header = CSVText.line(["time"] + attributes + columns)
        return runs.sorted { $0.startedUTC < $1.startedUTC }.reduce(into: header) { text, run in
            let figures = figures(of: run)
            let values = columns.map { FigureText.write(figures[$0]!) }
            text += CSVText.line([run.startedUTC, run.commit, run.runID].map(CSVText.exported) + values)
        }
    }

    /// The configuration for `data`: YAML, with names quoted as in its subset JSON.
    public static func configuration(_ runs: [ExportedRun]) -> String {
        var text = """
            tests:
              \(testName):
                type: csv
                file: \(dataFile)
                time_column: time
                attributes: [\(attributes.joined(separator: ", "))]
                metrics:

            """
        for column in sharedColumns(of: runs) {
            text += "      \(JSONText.quoted(column)): {direction: -1, scale: 1}\n"
        }
        return text
    }

    /// The number of figures left out because some run lacks them.
    public static func leftOut(_ runs: [ExportedRun]) -> Int {
        runs.reduce(into: Set<String>()) { $0.formUnion(figures(of: $1).keys) }.count - sharedColumns(of: runs).count
    }

    private static func sharedColumns(of runs: [ExportedRun]) -> [String] {
        guard let first = runs.first else { return [] }
        return runs.dropFirst().reduce(Set(figures(of: first).keys)) { $0.intersection(figures(of: $1).keys) }.sorted()
    }

    private static func figures(of run: ExportedRun) -> [String: Double] {
        var figures: [String: Double] = [:]
        for row in run.summary {
            // Written as in the header of the data: the configuration names the same column.
            let name = CSVText.exported(row.exportedName.split(separator: " ").joined(separator: "/"))
            for (figure, estimate) in row.exportedFigures { figures["\(name)/\(figure.name)"] = estimate.value }
        }
        return figures
    }
}
