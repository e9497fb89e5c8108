import OpBenchAnalysis
import OpBenchHistory
import OpBenchModel

/// Figures over time in readable form: a table for each kind of host, the one with the latest run last.
enum TrendTable {
    /// - Parameter width: nil for no limit.
    static func text(of series: [TrendSeries], width: Int? = TableWidth.ofOutput()) -> String {
        let hosts = Dictionary(grouping: series, by: \.host).values
            .map { (series: $0, runs: TrendText.runs(of: $0)) }
            .sorted { $0.runs.last! < $1.runs.last! }
        return hosts.map { series, runs in
            let title = "\(series[0].host.summary): \(TrendText.span(runs))"
            return TerminalText.escaped(title, limit: TerminalText.fieldLimit) + "\n"
                + (series.count == 1 ? points(of: series[0], width: width) : overview(of: series, width: width))
                + surroundings(of: series, runs, width: width)
        }.joined(separator: "\n")
    }

    /// The runs at which something around the code changed, and what; empty if there is none.
    private static func surroundings(of series: [TrendSeries], _ runs: [HistoryRun], width: Int?) -> String {
        var lines: [String: [String]] = [:]
        for point in series.lazy.flatMap(\.points) {
            lines[point.run.id, default: []] += point.surroundingChanges.lines
        }
        let entries = runs.flatMap { run in
            (lines[run.id] ?? []).uniqued().map { line in
                (
                    term: TerminalText.escaped(run.id, limit: TerminalText.fieldLimit),
                    meaning: TerminalText.escaped(line, limit: TerminalText.messageLimit)
                )
            }
        }
        return entries.isEmpty
            ? "" : "\nchanged around the code:\n" + DefinitionList(entries: entries).text(width: width)
    }

    /// One line per figure. The name of a cell with several figures is printed once.
    private static func overview(of series: [TrendSeries], width: Int?) -> String {
        let cells = zip([""] + series.map(\.name.cellID), series).map { $0 == $1.name.cellID ? "" : $1.name.cellID }
        return Table<Int>(
            [
                .init("cell", isText: true) { cells[$0] },
                .init("backend", isText: true) { series[$0].name.backend.rawValue },
                .init("figure", isText: true) { series[$0].title },
                .init("first") { TrendText.value(series[$0].points.first?.figure.value, of: series[$0].name) },
                .init("last") { TrendText.value(series[$0].points.last?.figure.value, of: series[$0].name) },
                .init("runs", isText: true) { Sparkline.text(of: series[$0].points.map(\.figure.value)) },
                .init("changes", isText: true) { index in
                    series[index].points.filter { $0.change != nil }
                        .map { "\(TrendText.change(at: $0, of: series[index])) at \($0.run.id)" }
                        .joined(separator: ", ")
                },
            ], Array(series.indices)
        ).text(width: width)
    }

    /// One line per run.
    private static func points(of series: TrendSeries, width: Int?) -> String {
        Table<TrendSeries.Point>(
            [
                .init("run", isText: true) { $0.run.id }, .init("measured", isText: true) { TrendText.day($0.run) },
                .init("commit", isText: true) { TrendText.commit($0.run) },
                .init(series.title) { TrendText.value($0.figure.value, of: series.name) },
                .init("95 % interval") { interval(of: $0.figure) },
                .init("samples") { String($0.figure.samples) },
                .init("change", isText: true) { TrendText.change(at: $0, of: series) },
            ], series.points
        ).text(width: width)
    }

    private static func interval(of figure: RunFigure) -> String {
        guard let low = figure.low, let high = figure.high else { return Quantities.absent }
        return Quantities.interval(low, high, around: figure.value, of: figure.name.metric)
    }
}

/// Texts in tables of a history.
enum TrendText {
    /// The day on which a run was measured; over many runs, the time of day matters little.
    static func day(_ run: HistoryRun) -> String { String(run.startedUTC.prefix(10)) }

    static func commit(_ run: HistoryRun) -> String {
        run.commit.isEmpty ? Quantities.absent : run.commit.prefix(10) + (run.isDirty ? "+" : "")
    }

    /// The clock resolution of former runs is unknown, and a median over blocks is finer anyway.
    static func value(_ value: Double?, of name: FigureName) -> String {
        Quantities.figure(value, of: name.metric, resolution: 0)
    }

    /// `+30 % (worse)`, or `+30 % (compiler)` where something around the code changed as well; empty without a change.
    static func change(at point: TrendSeries.Point, of series: TrendSeries) -> String {
        guard let change = point.change else { return "" }
        let text = Quantities.change(change - 1)
        guard point.isChangeOfCode else {
            return "\(text) (\(point.surroundingChanges.titles.joined(separator: ", ")))"
        }
        return series.isWorse(change).map { "\(text) (\($0 ? "worse" : "better"))" } ?? text
    }

    /// The runs of all series, in chronological order.
    static func runs(of series: [TrendSeries]) -> [HistoryRun] {
        Set(series.flatMap { $0.points.map(\.run) }).sorted()
    }

    static func span(_ runs: [HistoryRun]) -> String {
        runs.count == 1 ? "1 run, \(day(runs[0]))" : "\(runs.count) runs, \(day(runs[0])) to \(day(runs.last!))"
    }
}

/// The latest values as a row of bars.
enum Sparkline {
    private static let bars = Array("▁▂▃▄▅▆▇█")
    private static let width = 16

    /// Scales from the least to the greatest value, unless they differ so little that noise would fill the height.
    static func text(of values: [Double]) -> String {
        let latest = values.suffix(width)
        guard let least = latest.min(), let greatest = latest.max() else { return "" }
        let middle = least / 2 + greatest / 2
        let height = max(greatest - least, 0.1 * abs(middle))
        guard height.isFinite else { return String(repeating: bars[0], count: latest.count) }
        let bottom = middle - height / 2
        return String(
            latest.map { value in
                let place = height > 0 ? (value - bottom) / height * Double(bars.count) : 0
                return bars[min(bars.count - 1, max(0, Int(place)))]
            })
    }
}
