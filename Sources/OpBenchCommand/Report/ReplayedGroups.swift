import OpBenchModel

/// The groups of replays: their latencies in the recording, and on each backend, with the difference.
enum ReplayedGroups {
    private struct Row: Sendable {
        let cell: String
        /// The name, then the texts of the columns.
        var fields: [String]
    }

    /// Empty without a replay of several groups.
    static func text(of rows: [SummaryRow], width: Int? = TableWidth.ofOutput()) -> String {
        let groups = rows.filter { $0.operationClass.hasPrefix("group=") && $0[.recordedLatencyP99].value != nil }
        if groups.isEmpty { return "" }
        let backends = groups.map(\.backend).uniqued()
        var lines: [Row] = []
        for row in groups {
            let name = String(row.operationClass.dropFirst("group=".count))
            if lines.last?.cell != row.cellID
                || !lines.contains(where: { $0.cell == row.cellID && $0.fields[0] == name })
            {
                let recorded = [row[.recordedLatencyP50], row[.recordedLatencyP99]].map(text)
                lines.append(
                    Row(cell: row.cellID, fields: [name] + recorded + backends.flatMap { _ in ["-", "-"] }))
            }
            let line = lines.firstIndex { $0.cell == row.cellID && $0.fields[0] == name }!
            let column = 3 + 2 * backends.firstIndex(of: row.backend)!
            lines[line].fields[column] = text(row[.intendedLatencyP50], beside: row[.recordedLatencyP50])
            lines[line].fields[column + 1] = text(row[.intendedLatencyP99], beside: row[.recordedLatencyP99])
        }
        let titles = ["group", "recorded p50", "p99"] + backends.flatMap { ["\($0.rawValue) p50", "p99"] }
        let columns = titles.enumerated().map { place, title in
            Table<Row>.Column(title, isText: place == 0) { $0.fields[place] }
        }
        return "\n" + Table(columns, lines).layout(width: width, heading: \.cell).text
    }

    private static func text(_ figure: Estimate) -> String {
        figure.value.map { Quantities.time($0) } ?? Quantities.absent
    }

    private static func text(_ figure: Estimate, beside recorded: Estimate) -> String {
        guard let value = figure.value, let recorded = recorded.value, recorded > 0 else { return text(figure) }
        return "\(text(figure)) (\(Quantities.change(value / recorded - 1)))"
    }
}
