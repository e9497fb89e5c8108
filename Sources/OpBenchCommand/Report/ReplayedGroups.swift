import OpBenchModel

/// The groups of replays: their latencies in the recording, and on each backend, with the difference.
enum ReplayedGroups {
    private struct Row: Sendable {
        let cell: String
        /// The name, then the texts of the columns.
        let fields: [String]
    }

    /// Empty without a replay of several groups.
    static func text(of rows: [SummaryRow], width: Int? = TableWidth.ofOutput()) -> String {
        let groups = rows.filter { $0.operationClass.hasPrefix("group=") && $0[.recordedLatencyP99].value != nil }
        if groups.isEmpty { return "" }
        let backends = groups.backendSides
        let lines = groups.map(\.cellID).uniqued().flatMap { cell in
            let own = groups.filter { $0.cellID == cell }
            return own.map(\.operationClass).uniqued().map { name in
                let rows = own.filter { $0.operationClass == name }
                let recorded = [rows[0][.recordedLatencyP50], rows[0][.recordedLatencyP99]].map(text)
                let measured = backends.flatMap { backend in
                    guard let row = rows.first(where: { $0.backendSide == backend }) else {
                        return [Quantities.absent, Quantities.absent]
                    }
                    return [
                        text(row[.intendedLatencyP50], beside: row[.recordedLatencyP50]),
                        text(row[.intendedLatencyP99], beside: row[.recordedLatencyP99]),
                    ]
                }
                return Row(cell: cell, fields: [String(name.classValue)] + recorded + measured)
            }
        }
        let titles = ["group", "recorded p50", "p99"] + backends.flatMap { ["\($0.title) p50", "p99"] }
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
