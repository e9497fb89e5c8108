#if Suite
    import OpBenchHistory
    import OpBenchModel

    /// Figures over time in readable form: a table for each kind of host, the one with the latest run last.
    enum TrendTable {
        /// - Parameter width: nil for no limit.
        static func text(of series: [TrendSeries], width: Int? = TableWidth.ofOutput()) -> String {
            let hosts = Dictionary(grouping: series, by: \.host).values
                .map { (series: $0, runs: TrendText.runs(of: $0)) }
                .sorted { ($0.runs.last!.startedUTC, $0.runs.last!.id) < ($1.runs.last!.startedUTC, $1.runs.last!.id) }
            return hosts.map { series, runs in
                let title = "\(series[0].host.summary): \(TrendText.span(runs))"
                return TerminalText.escaped(title, limit: TerminalText.fieldLimit) + "\n"
                    + (series.count == 1 ? points(of: series[0]) : overview(of: series)).text(width: width)
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
        private static func overview(of series: [TrendSeries]) -> PrintedTable {
            var cell: String?
            let rows = series.map { series -> [String] in
                defer { cell = series.name.cellID }
                let values = series.points.map(\.value)
                let changes = series.points.filter { $0.change != nil }
                    .map { "\(TrendText.change(at: $0, of: series)) at \($0.run.id)" }
                return [
                    series.name.cellID == cell ? "" : series.name.cellID, series.name.backend.rawValue,
                    TrendText.figure(series.name), TrendText.value(values.first, of: series.name),
                    TrendText.value(values.last, of: series.name), Sparkline.text(of: values),
                    changes.joined(separator: ", "),
                ]
            }
            return PrintedTable(
                [
                    .init(title: "cell", isText: true), .init(title: "backend", isText: true),
                    .init(title: "figure", isText: true), .init(title: "first"), .init(title: "last"),
                    .init(title: "runs", isText: true), .init(title: "changes", isText: true),
                ], rows: rows)
        }

        /// One line per run.
        private static func points(of series: TrendSeries) -> PrintedTable {
            let name = series.name
            let rows = series.points.map { point in
                [
                    point.run.id, TrendText.day(point.run), TrendText.commit(point.run),
                    TrendText.value(point.value, of: name), interval(of: point, of: name.metric), String(point.samples),
                    TrendText.change(at: point, of: series),
                ]
            }
            return PrintedTable(
                [
                    .init(title: "run", isText: true), .init(title: "measured", isText: true),
                    .init(title: "commit", isText: true), .init(title: TrendText.figure(name)),
                    .init(title: "95 % interval"), .init(title: "samples"), .init(title: "change", isText: true),
                ], rows: rows)
        }

        private static func interval(of point: TrendSeries.Point, of metric: String) -> String {
            guard let low = point.low, let high = point.high else { return Quantities.absent }
            return Quantities.interval(low, high, around: point.value, of: metric)
        }
    }

    /// Texts in tables of a history.
    enum TrendText {
        /// The day on which a run was measured; over many runs, the time of day matters little.
        static func day(_ run: HistoryRun) -> String { String(run.startedUTC.prefix(10)) }

        static func commit(_ run: HistoryRun) -> String {
            run.commit.map { String($0.prefix(10)) + (run.isDirty ? "+" : "") } ?? Quantities.absent
        }

        static func figure(_ name: FigureName) -> String {
            name.title + (name.side.isEmpty ? "" : " of \(name.side)")
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
            Set(series.flatMap { $0.points.map(\.run) }).sorted { ($0.startedUTC, $0.id) < ($1.startedUTC, $1.id) }
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
            let bottom = middle - height / 2
            return String(
                latest.map { value in
                    let place = height > 0 ? (value - bottom) / height * Double(bars.count) : 0
                    return bars[min(bars.count - 1, max(0, Int(place)))]
                })
        }
    }
#endif
