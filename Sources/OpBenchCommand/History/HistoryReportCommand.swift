#if Suite
    import ArgumentParser
    import OpBenchHistory
    import OpBenchModel
    import OpBenchPage

    /// `opbench history report -o FILE`
    struct HistoryReportCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "report",
            abstract: "Write an HTML page that shows how figures change from run to run.",
            discussion: """
                Writes one self-contained HTML file with the figures that `opbench history trend` prints, and their change \
                points.

                EXAMPLES
                  opbench history report -o trend.html
                  opbench history report --metric allocations,time_ratio -o trend.html
                """)

        @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
        var output: String

        @OptionGroup var figures: FigureSelection

        @Flag(inversion: .prefixedNo, help: "Look for the points where figures changed.")
        var changePoints = true

        @OptionGroup var place: HistoryPlace

        func run() throws {
            let file = try ReportFile(output)
            let history = try History(place.path, for: .reading)
            let series = try figures.series(of: history, isHeadline: true)
            try history.close()
            let marked = changePoints ? try HistoryTrendCommand.marked(series) : series
            let runs = TrendText.runs(of: marked)
            // The page does not show hosts; if there are several, the cell's name includes the host.
            let namesHost = Set(marked.map(\.host)).count > 1
            let page = ReportPage(
                title: "History: \(TrendText.span(runs))", trends: marked.map { $0.ofPage(namesHost: namesHost) },
                maker: "Made by opbench \(ProgramVersion.number).")
            try ReportFile.write([(file, page.html)])
        }
    }

    extension OpBenchHistory.TrendSeries {
        /// The same series for a page.
        fileprivate func ofPage(namesHost: Bool) -> OpBenchPage.TrendSeries {
            OpBenchPage.TrendSeries(
                cellID: name.cellID + (namesHost ? " · \(host.summary)" : ""), backend: name.backend.rawValue,
                metric: TrendText.figure(name), unit: name.unit,
                points: points.map { point in
                    OpBenchPage.TrendSeries.Point(
                        runID: point.run.id, date: point.run.startedUTC, commit: point.run.commit ?? "",
                        value: point.value, low: point.low, high: point.high)
                },
                changePoints: points.indices.compactMap { index in
                    points[index].change.map { change in
                        OpBenchPage.TrendSeries.ChangePoint(
                            index: index, ratio: change, isOfCode: points[index].isChangeOfCode)
                    }
                },
                surroundings: points.indices.compactMap { index -> OpBenchPage.TrendSeries.SurroundingChange? in
                    let changes = points[index].surroundingChanges
                    return changes.isEmpty ? nil : .init(index: index, titles: changes.titles, lines: changes.lines)
                })
        }
    }
#endif
