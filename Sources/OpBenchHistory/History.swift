import Foundation
import OpBenchAnalysis
import OpBenchModel

/// The figures of many runs, in one CSV file of `HistoryRow`s. The rows in the runs' folders are authoritative: the file
/// can be removed and made again from them.
///
/// A file is replaced as a whole, under a lock on its folder: processes that add at the same time wait for each other,
/// and readers see the runs before an addition or after it. Not for network file systems without such locks.
///
/// Thread-safe as a value.
public struct History: Sendable {
    /// A run with its figures.
    public struct Entry: Sendable, Hashable {
        public let run: HistoryRun
        /// Sorted by name.
        public let figures: [RunFigure]

        public init(run: HistoryRun, figures: [RunFigure]) {
            // As a file keeps them.
            let sides = Set(figures.map(\.name.side))
            var run = run
            run.surroundings = run.surroundings.filter { sides.contains($0) && !$1.isEmpty }
            self.run = run
            self.figures = figures.sorted { $0.name < $1.name }
        }
    }

    /// The result of adding a run.
    public enum Addition: Sendable {
        case added
        /// The same run was there already.
        case known
        /// Another run with that id was there.
        case replaced
    }

    public let path: String
    /// In order of time.
    public private(set) var entries: [Entry]

    /// The longest wait for another process, in seconds.
    private static let patience = 60.0

    /// Reads a history.
    ///
    /// - Throws: `InputError` if there is no file, or it is not a history of this version.
    public init(_ path: String) throws(InputError) {
        guard Self.exists(path) else {
            throw InputError(
                file: path, message: "no history found",
                remedy: "make one with `opbench history add RUN…`, or name another --file")
        }
        self.path = path
        entries = try HistoryReader.entries(of: path)
    }

    private init(empty path: String) { (self.path, entries) = (path, []) }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    // MARK: Adding

    /// Adds all runs or, if one is refused, none. Makes the file, and its folder, if there is none.
    ///
    /// - Parameter isReplacing: whether a different run with the same id is replaced.
    /// - Returns: a result for each run.
    /// - Throws: `InputError` for a file that is not a writable history, `InputErrors` for refused runs: nothing is
    ///   written then. `DiskError`; `HistoryError` if another process holds the lock for long.
    @discardableResult
    public static func add(_ runs: [Entry], to path: String, isReplacing: Bool = false) throws -> [Addition] {
        let lock = try locked(path)
        defer { withExtendedLifetime(lock) {} }
        let file = try ReportFile(path)
        var history = exists(path) ? try History(path) : History(empty: path)
        let additions = try history.take(runs, isReplacing: isReplacing)
        if additions.contains(where: { $0 != .known }) {
            let rows = history.entries.flatMap(HistoryReader.rows)
            let text = CSVFile.text(of: rows)
            guard rows.count <= CSVFile.rowLimit, text.utf8.count <= CSVFile.sizeLimit else {
                throw InputError(
                    file: path, message: "with these runs, the history is larger than can be read",
                    remedy: "begin another one, with --file")
            }
            try ReportFile.write([(file, text)])
        }
        return additions
    }

    /// Locks the folder of the file itself, whatever links lead there.
    private static func locked(_ path: String) throws -> WrittenFolder {
        let deadline = ContinuousClock.now.advanced(by: .seconds(patience))
        while true {
            let place = folder(of: path)
            try WrittenFolder.make(place, remedy: "name a writable --file")
            let folder = try WrittenFolder(place)
            // Meanwhile another process may have made the file that a link leads to, or moved the folder.
            if try folder.lock(), folder.isInPlace, Self.folder(of: path) == place { return folder }
            guard ContinuousClock.now < deadline else {
                throw HistoryError(
                    path: place, message: "another process has locked the folder",
                    remedy: "try again when it has ended")
            }
            usleep(10_000)
        }
    }

    private static func folder(of path: String) -> String {
        let file = realpath(path, nil).map { resolved in
            defer { free(resolved) }
            return String(cString: resolved)
        }
        return WrittenFolder.holding(file ?? path)
    }

    private mutating func take(_ runs: [Entry], isReplacing: Bool) throws -> [Addition] {
        var byID = Dictionary(entries.map { ($0.run.id, $0) }) { $1 }
        let mistakes = Mistakes()
        let additions = runs.map { entry -> Addition in
            guard let present = byID.updateValue(entry, forKey: entry.run.id) else { return .added }
            if present == entry { return .known }
            if !isReplacing {
                mistakes.note(
                    InputError(
                        file: entry.run.id, message: "the history has a run of this id with other figures",
                        remedy: "replace it with --replace"))
            }
            return .replaced
        }
        try mistakes.check()
        entries = byID.values.sorted { $0.run < $1.run }
        return additions
    }

    // MARK: Queries

    /// The metrics and the backends that have figures, sorted.
    public var names: (metrics: [String], backends: [BackendID]) {
        let names = Set(entries.lazy.flatMap { $0.figures.map(\.name) })
        return (Set(names.map(\.metric)).sorted(), Set(names.map(\.backend)).sorted { $0.rawValue < $1.rawValue })
    }

    /// The figures over time, sorted by name: one series for each kind of host; the kind with the latest run comes last.
    public func series(where isWanted: (FigureName) -> Bool = { _ in true }) -> [TrendSeries] {
        struct Key: Hashable {
            var name: FigureName
            var host: HostKind
        }
        var points: [Key: [TrendSeries.Point]] = [:]
        for entry in entries {
            for figure in entry.figures where isWanted(figure.name) {
                points[Key(name: figure.name, host: entry.run.host), default: []].append(
                    TrendSeries.Point(run: entry.run, figure: figure))
            }
        }
        return points.sorted { left, right in
            left.key.name == right.key.name
                ? left.value.last!.run < right.value.last!.run : left.key.name < right.key.name
        }.map { TrendSeries(name: $0.name, host: $0.host, points: $1) }
    }
}

/// The history could not be written, with no input at fault: `opbench` exits 1.
public struct HistoryError: Error, Sendable, CustomStringConvertible {
    public let path: String
    let message: String
    let remedy: String

    public var description: String { "\(path): \(message); \(remedy)" }
}

/// Makes runs of a history's rows, and rows of runs.
private struct HistoryReader {
    private var run: HistoryRun
    private var rows: [FigureName: HistoryRow] = [:]

    static func entries(of path: String) throws(InputError) -> [History.Entry] {
        var runs: [String: HistoryReader] = [:]
        var contradictory: String?
        try CSVFile.each(HistoryRow.self, of: path) { row, _ in
            if runs[row.runID, default: HistoryReader(run: HistoryRun(row))].take(row) == false {
                contradictory = contradictory ?? row.runID
            }
        }
        if let contradictory {
            throw InputError(
                file: path, path: "run_id \(contradictory)",
                message: "rows of this run contradict each other, or lack a figure",
                remedy: "remove all of its rows, and add the run again")
        }
        return runs.values.map(\.entry).sorted { $0.run < $1.run }
    }

    /// - Returns: false if the row is of another run with that id. The same row may be there twice, as after a merge of
    ///   two files by union.
    private mutating func take(_ row: HistoryRow) -> Bool {
        var figure = row
        figure.surroundings = Surroundings()
        let present = rows.updateValue(figure, forKey: row.name)
        if !row.surroundings.isEmpty { run.surroundings[row.name.side] = row.surroundings }
        var own = run
        own.surroundings = [:]
        return row.value != nil && HistoryRun(row) == own && (present ?? figure) == figure
    }

    private var entry: History.Entry {
        History.Entry(
            run: run,
            figures: rows.values.map { row in
                RunFigure(name: row.name, value: row.value ?? 0, low: row.low, high: row.high, samples: row.samples)
            })
    }

    /// The rows of a run, sorted by name.
    static func rows(of entry: History.Entry) -> [HistoryRow] {
        var sides: Set<String> = []
        return entry.figures.map { figure in
            var row = entry.run.row(of: figure)
            let side = figure.name.side
            if sides.insert(side).inserted { row.surroundings = entry.run.surroundings[side] ?? Surroundings() }
            return row
        }
    }
}
