import Foundation

/// One row of a history: one figure of one run.
public struct HistoryRow: Sendable, Hashable {
    public var runID = ""
    /// The time of the run's first sample: ISO 8601, UTC.
    public var startedUTC = ""
    /// The commit that the program was built from; empty if unknown.
    public var commit = ""
    /// Whether files differed from the commit.
    public var isDirty = false
    public var host = HostKind(hostClass: "", allocator: "", configuration: "")
    public var name = FigureName()
    /// In the unit of the metric, per operation or round if the metric is counted so.
    public var value: Double?
    public var low: Double?
    public var high: Double?
    public var samples = 0
    /// The facts around the code, in the first row of each side of a run; empty in the others.
    public var surroundings = Surroundings()

    public init() {}
}

extension HistoryRow: CSVRow {
    public static let fileName = "history.csv"
    public static let hasParameters = false

    public static let columnList: [CSVColumn<HistoryRow>] = [
        .schemaVersion, .init("host_class", \.host.hostClass), .init("allocator", \.host.allocator),
        .init("configuration", \.host.configuration), .init("cell_id", \.name.cellID),
        .init("backend", \.name.backend), .init("side", \.name.side), .init("metric", \.name.metric),
        .init("phase", \.name.phase), .init("operation_class", \.name.operationClass), .init("stat", \.name.stat),
        .init(derived: "unit") { $0.name.unit.rawValue }, .init(derived: "direction") { $0.name.direction.rawValue },
        .init("started_utc", \.startedUTC), .init("run_id", \.runID), .init("commit", \.commit),
        dirtyColumn, .init("value", \.value), .init("ci_low", \.low), .init("ci_high", \.high),
        .init("samples", \.samples), surroundingsColumn,
    ]

    private static let dirtyColumn = CSVColumn<HistoryRow>(
        name: "dirty", write: { String($0.isDirty) },
        read: { row, text in
            row.isDirty = text == "true"
            return ["true", "false"].contains(text) ? nil : "true or false"
        })

    /// JSON, as in `run.json`.
    private static let surroundingsColumn = CSVColumn<HistoryRow>(
        name: "surroundings",
        write: { row in
            if row.surroundings.isEmpty { return "" }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // Strings in dictionaries can always be encoded.
            let data = (try? encoder.encode(row.surroundings)) ?? Data()
            return data.count <= CSVFile.fieldLimit ? String(decoding: data, as: UTF8.self) : ""
        },
        read: { row, text in
            if text.isEmpty { return nil }
            guard let surroundings = try? JSONDecoder().decode(Surroundings.self, from: Data(text.utf8)) else {
                return "the facts around the code as a JSON object, or nothing"
            }
            row.surroundings = surroundings
            return nil
        })

    public static let blank = HistoryRow()
}
