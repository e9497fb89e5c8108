import OpBenchAnalysis
import OpBenchModel

/// The data that a history keeps of a run besides its figures.
public struct HistoryRun: Sendable, Hashable {
    public var id: String
    /// The time of its first sample: ISO 8601, UTC.
    public var startedUTC: String
    /// The commit that the program was built from; empty if unknown.
    public var commit: String
    /// Whether files differed from the commit.
    public var isDirty: Bool
    public var host: HostKind
    /// The known facts around the code, by side: `base` and `head` for a run of two builds, else one entry without a
    /// name.
    public var surroundings: [String: Surroundings]

    public init(
        id: String, startedUTC: String, commit: String, isDirty: Bool, host: HostKind,
        surroundings: [String: Surroundings] = [:]
    ) {
        self.id = id
        self.startedUTC = startedUTC
        self.commit = commit
        self.isDirty = isDirty
        self.host = host
        self.surroundings = surroundings
    }

    /// The run of a row, without the facts around the code.
    init(_ row: HistoryRow) {
        self.init(
            id: row.runID, startedUTC: row.startedUTC, commit: row.commit, isDirty: row.isDirty, host: row.host)
    }

    /// The row of a figure, without the facts around the code.
    func row(of figure: RunFigure) -> HistoryRow {
        var row = HistoryRow()
        (row.runID, row.startedUTC, row.commit, row.isDirty, row.host) = (id, startedUTC, commit, isDirty, host)
        row.name = figure.name
        (row.value, row.low, row.high, row.samples) = (figure.value, figure.low, figure.high, figure.samples)
        return row
    }
}

extension HistoryRun: Comparable {
    /// In order of time.
    public static func < (left: HistoryRun, right: HistoryRun) -> Bool {
        (left.startedUTC, left.id) < (right.startedUTC, right.id)
    }
}
