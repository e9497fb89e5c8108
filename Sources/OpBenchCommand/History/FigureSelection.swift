#if Suite
    import ArgumentParser
    import OpBenchHistory
    import OpBenchModel

    /// Options that select figures of a history.
    struct FigureSelection: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Only cells with a cell_id that contains a match of the regular expression.", valueName: "regex"))
        var cell: String?

        @Option(help: ArgumentHelp("Only these metrics, separated by commas.", valueName: "list"), completion: .metrics)
        var metric: String?

        @Option(
            help: ArgumentHelp("Only these backends, separated by commas.", valueName: "list"), completion: .backends)
        var backend: String?

        /// The figures shown without `--metric`: the time of an operation, absolute and relative to Dispatch's.
        static let headline: Set<String> = [Metric.time.name, BaselineRatio.time.rawValue]

        /// The series of the figures.
        ///
        /// - Parameter isHeadline: whether only the times are selected without `--metric`.
        /// - Throws: `InputError` if nothing is selected.
        func series(of history: History, isHeadline: Bool) throws -> [TrendSeries] {
            let known = try history.names()
            var query = History.Query()
            if let cell {
                let filter = try CellFilter(cell, option: "--cell")
                query.isWantedCell = filter.matches
            }
            query.metrics = try metric.map { try Set(Self.names($0, option: "--metric", known: known.metrics)) }
            query.backends = try backend.map {
                Set(try Self.names($0, option: "--backend", known: known.backends.map(\.rawValue)).map(BackendID.init))
            }
            if query.metrics == nil, isHeadline { (query.metrics, query.isHeadlineOnly) = (Self.headline, true) }
            let series = try history.series(query)
            if series.isEmpty {
                throw InputError(
                    file: history.path, message: "the options select no figure of the history",
                    remedy: "it has the metrics \(Suggestion.list(known.metrics, from: "opbench explain-columns"))")
            }
            return series
        }

        private static func names(_ list: String, option: String, known: [String]) throws(InputError) -> [String] {
            try NameList.names(list, option: option, known: known) { "the history has no \"\($0)\"" }
        }
    }
#endif
