import OpBenchModel

/// The groups of replays: their rates and latencies in the recording, then in each cell on each backend, with the
/// difference from the recording. At another speed a rate has none: the setting makes it.
enum ReplayedGroups {
    private struct Row: Sendable {
        var heading: String
        /// The name, then the texts of the columns.
        var fields: [String]
    }

    private static let titles = ["group", "per second", "p50", "p99"]

    /// Empty without a replay of several groups.
    static func text(of rows: [SummaryRow], width: Int? = TableWidth.ofOutput()) -> String {
        let groups = rows.filter { $0.operationClass.hasPrefix("group=") && $0[.recordedLatencyP50].value != nil }
        if groups.isEmpty { return "" }
        let hasOtherSettings = groups.map(\.cellID).uniqued().count > 1
        let workloads = groups.map(\.workload).uniqued()
        let lines = workloads.flatMap { workload in
            let own = groups.filter { $0.workload == workload }
            let cells = CellNames(own.map { ($0.cellID, $0.parameters) })
            return own.map(\.operationClass).uniqued().flatMap { group in
                let heading = (workloads.count > 1 ? "\(workload), " : "") + group.classValue
                let members = own.filter { $0.operationClass == group }
                return settings(members, cells).map { Row(heading: heading, fields: $0) }
            }
        }
        let columns = titles.enumerated().map { place, title in
            Table<Row>.Column(title, isText: place == 0) { $0.fields[place] }
        }
        let note =
            "even at the recorded settings, the engine's replay differs from the recording, so compare replays with each "
            + "other"
        return "\n" + Table(columns, lines).layout(width: width, heading: \.heading).text
            + (hasOtherSettings && groups.contains(where: isUnlike)
                ? "\n" + WrappedText.paragraph(note, width: width) : "")
    }

    /// Whether the replay of what was recorded, as it was recorded, has another 99th percentile.
    private static func isUnlike(_ row: SummaryRow) -> Bool {
        let asRecorded = ["limit": "recorded", "priorities": "recorded", "speed": "1"]
        guard row.backend == .engine, asRecorded.allSatisfy({ row.parameters[$0.key] ?? $0.value == $0.value }),
            let own = row[.intendedLatencyP99].value, let recorded = row[.recordedLatencyP99].value
        else { return false }
        return abs(own / recorded - 1) >= leastDifference
    }

    private static let leastDifference = 0.5

    /// The lines of one group: those of the cells that replay the same recorded operations follow what was recorded of
    /// these. Parts of a recording, as by `queue`, have rates of their own.
    private static func settings(_ rows: [SummaryRow], _ cells: CellNames) -> [[String]] {
        let recorded: [Figure] = [.recordedRate, .recordedLatencyP50, .recordedLatencyP99]
        let replayed: [Figure] = [.completionRate, .intendedLatencyP50, .intendedLatencyP99]
        func texts(_ row: SummaryRow, _ figures: [Figure], beside others: [Double?] = []) -> [String] {
            let hasOwnSpeed = (row.parameters["speed"].flatMap(Double.init) ?? 1) != 1
            return figures.enumerated().map { place, figure in
                guard let value = row[figure].value else { return Quantities.absent }
                let isRate = figure.metric.unit == .perSecond
                let text = isRate ? Quantities.count(value) : Quantities.time(value)
                guard !others.isEmpty, !(isRate && hasOwnSpeed), let other = others[place], other > 0 else {
                    return text
                }
                return "\(text) (\(Quantities.change(value / other - 1)))"
            }
        }
        func load(_ row: SummaryRow) -> [Double?] { recorded.map { row[$0].value } }
        return rows.map(load).uniqued().flatMap { shared in
            let own = rows.filter { load($0) == shared }
            return [["recorded"] + texts(own[0], recorded)]
                + own.map { row in
                    let name = [cells.name(of: row.cellID), row.backendSide.title].filter { !$0.isEmpty }
                    return [name.joined(separator: ", ")] + texts(row, replayed, beside: shared)
                }
        }
    }
}
