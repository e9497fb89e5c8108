#if Suite
    import ArgumentParser
    import OpBenchHistory
    import OpBenchModel
    import OpBenchRunner

    /// `opbench history trend`
    struct HistoryTrendCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trend",
            abstract: "Print how figures change from run to run, and where they changed.",
            discussion: """
                Prints one line per figure, or one per run if a single figure is selected; csv and json have one per \
                figure and run. Without --metric, these are the times of operations and their ratios to Dispatch's. Runs \
                with the same class of host, allocator and build make one series; others have separate tables. \
                Machines drift from day to day; the ratio to Dispatch does not.

                Apache Otava finds change points if it is installed: `otava` on PATH, or the program in the variable \
                OPBENCH_OTAVA. The change is the mean from there on, relative to the mean before.

                EXAMPLES
                  opbench history trend
                  opbench history trend --cell 'depth=1000' --backend engine
                  opbench history trend --metric allocations,start_latency
                  opbench history trend --format csv > trend.csv
                """)

        @OptionGroup var figures: FigureSelection

        @Option(help: ArgumentHelp("How to print the figures.", valueName: "format"))
        var format = TrendFormat.table

        @Flag(inversion: .prefixedNo, help: "Look for the points where figures changed.")
        var changePoints = true

        @OptionGroup var place: HistoryPlace

        func run() throws {
            let history = try History(place.path, for: .reading)
            let series = try figures.series(of: history, isHeadline: true)
            try history.close()
            try StandardOutput.write(format.text(of: changePoints ? try Self.marked(series) : series))
        }

        /// The series with their change points, if Otava is installed.
        static func marked(_ series: [TrendSeries]) throws -> [TrendSeries] {
            guard let finder = ChangePoints() else {
                StandardError.say("opbench: no change points: Apache Otava is not installed; \(ChangePoints.remedy)")
                return series
            }
            return try CancellableWork.finish { try await finder.found(in: series) }
        }
    }

    /// `opbench history export`
    struct HistoryExportCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Print all figures of a history, one row per figure and run.",
            discussion: """
                The columns are those of `opbench history trend --format csv`; without change points.

                EXAMPLES
                  opbench history export > figures.csv
                  opbench history export --backend engine --format json > figures.json
                """)

        @OptionGroup var figures: FigureSelection

        @Option(help: ArgumentHelp("How to print the figures.", valueName: "format"))
        var format = RowFormat.csv

        @OptionGroup var place: HistoryPlace

        enum RowFormat: String, CaseIterable, ExpressibleByArgument { case csv, json }

        func run() throws {
            let history = try History(place.path, for: .reading)
            let series = try figures.series(of: history, isHeadline: false)
            try history.close()
            try StandardOutput.write((format == .csv ? TrendFormat.csv : .json).text(of: series))
        }
    }

    /// `--format` of a trend.
    enum TrendFormat: String, CaseIterable, ExpressibleByArgument {
        case table, csv, json

        func text(of series: [TrendSeries]) -> String {
            switch self {
            case .table: TrendTable.text(of: series)
            case .csv: CSVFile.text(of: series.flatMap(\.rows))
            case .json: RowJSON.text(of: series.flatMap(\.rows))
            }
        }
    }
#endif
