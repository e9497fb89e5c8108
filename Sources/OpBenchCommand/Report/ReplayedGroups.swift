import OpBenchModel

/// The groups of replays: their rates and latencies in the recording, and in each cell on each backend, with the
/// difference from the recording.
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
        let workloads = groups.map(\.workload).uniqued()
        let lines = workloads.flatMap { workload in
            let own = groups.filter { $0.workload == workload }
            let cells = CellNames(own.map { .init(id: $0.cellID, parameters: $0.parameters) })
            return own.map(\.operationClass).uniqued().flatMap { group in
                let heading = (workloads.count > 1 ? "\(workload), " : "") + group.classValue
                let members = own.filter { $0.operationClass == group }
                return settings(members, cells).map { Row(heading: heading, fields: $0) }
            }
        }
        let columns = titles.enumerated().map { place, title in
            Table<Row>.Column(title, isText: place == 0) { $0.fields[place] }
        }
        return "\n" + Table(columns, lines).layout(width: width, heading: \.heading).text
    }

    /// - Parameter rows: those of one group, one at least.
    private static func settings(_ rows: [SummaryRow], _ cells: CellNames) -> [[String]] {
        func texts(_ row: SummaryRow, _ figures: [Figure], beside recorded: [Figure]? = nil) -> [String] {
            zip(figures, recorded ?? figures).map { figure, other in
                guard let value = row[figure].value else { return Quantities.absent }
                let text = figure.metric.unit == .perSecond ? Quantities.count(value) : Quantities.time(value)
                guard recorded != nil, let other = row[other].value, other > 0 else { return text }
                return "\(text) (\(Quantities.change(value / other - 1)))"
            }
        }
        let recorded: [Figure] = [.recordedRate, .recordedLatencyP50, .recordedLatencyP99]
        let replayed: [Figure] = [.completionRate, .intendedLatencyP50, .intendedLatencyP99]
        return [["recorded"] + texts(rows[0], recorded)]
            + rows.map { row in
                let name = [cells.name(of: row.cellID), row.backendSide.title].filter { !$0.isEmpty }
                return [name.joined(separator: ", ")] + texts(row, replayed, beside: recorded)
            }
    }
}
