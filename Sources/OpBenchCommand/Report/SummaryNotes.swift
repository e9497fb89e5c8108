import OpBenchModel

/// What a reader of the summary's table has to know of its columns: a line for each that the rows give occasion to.
struct SummaryNotes {
    let rows: [SummaryRow]
    /// Of the clock that timed them, in nanoseconds.
    let clockResolution: Double

    /// Lines with their ends, after an empty one; nothing if there is nothing to say.
    var text: String {
        let lines = [interval, ratio, backlog, unresolved, serial].compactMap { $0.map { $0 + "\n" } }
        return lines.isEmpty ? "" : "\n" + lines.joined()
    }

    private var interval: String? {
        guard rows.contains(where: { $0.operationsPerSecondLow != nil }) else { return nil }
        return "time/op: the median of the samples; its 95 % interval as parts of it."
    }

    private var ratio: String? {
        guard let baseline = rows.first(where: { $0.timeRatio != nil && $0.backend != $0.ratioTo })?.ratioTo else {
            return nil
        }
        return """
            vs \(baseline.rawValue): the middle of the ratios within each block, where drift hits both alike; not the \
            quotient of the times in this table.
            """
    }

    private var backlog: String? {
        guard rows.contains(where: { $0.startLatencyP50 != nil || $0.startLatencyP99 != nil }) else { return nil }
        return """
            start: from ready to the operation's first line. Where more operations are ready than can run, this is \
            mostly the wait behind the others (backlog).
            """
    }

    private var unresolved: String? {
        let starts = rows.flatMap { [$0.startLatencyP50, $0.startLatencyP99] }.compactMap(\.self)
        guard starts.contains(where: { $0 < clockResolution }) else { return nil }
        return """
            \(Quantities.time(nanoseconds: 0, resolution: clockResolution)): started before its submitting call had \
            returned, or too soon after it for the clock to tell.
            """
    }

    private var serial: String? {
        guard rows.contains(where: { $0.backend == .serial && $0.timeRatio ?? 0 > 1 }) else { return nil }
        return "serial: one thread does all the work. Where it is above 1×, the others share the work among the cores."
    }
}
