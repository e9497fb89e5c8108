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

    @Flag(inversion: .prefixedNo, help: "Look for the points where figures changed.")
    var changePoints = true

    /// The figures shown without `--metric`: the time of an operation, absolute and relative to Dispatch's.
    static let headline: Set<String> = [Metric.time.name, BaselineRatio.time.rawValue]

    /// The selected series, with their change points if they are wanted and Otava is installed.
    func series(of place: HistoryPlace) throws -> [TrendSeries] {
        let series = try series(of: try History(place.path))
        guard changePoints else { return series }
        guard let finder = ChangePoints() else {
            StandardError.say("opbench: no change points: Apache Otava is not installed; \(ChangePoints.remedy)")
            return series
        }
        return try CancellableWork.finish { try await finder.found(in: series) }
    }

    /// - Throws: `InputError` if nothing is selected.
    private func series(of history: History) throws -> [TrendSeries] {
        let known = history.names
        let filter = try cell.map { try CellFilter($0, option: "--cell") }
        let metrics = try metric.map { try Set(Self.names($0, option: "--metric", known: known.metrics)) }
        let backends = try backend.map {
            try Set(Self.names($0, option: "--backend", known: known.backends.map(\.rawValue)))
        }
        let series = history.series { name in
            if backends?.contains(name.backend.rawValue) == false || filter?.matches(name.cellID) == false {
                return false
            }
            if let metrics { return metrics.contains(name.metric) }
            return Self.headline.contains(name.metric) && name.phase == "total" && name.operationClass.isEmpty
        }
        if series.isEmpty {
            throw InputError(
                file: history.path, message: "the options select no figure of the history",
                remedy: "it has the metrics \(Suggestion.list(known.metrics, from: "opbench describe"))")
        }
        return series
    }

    private static func names(_ list: String, option: String, known: [String]) throws(InputError) -> [String] {
        try NameList.names(list, option: option, known: known, from: "opbench describe") {
            "the history has no \"\($0)\""
        }
    }
}
