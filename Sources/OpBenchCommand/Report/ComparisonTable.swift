import OpBenchAnalysis
import OpBenchModel

/// Judged figures as tables, one per workload; headings name the cells with their backends.
enum ComparisonTable {
    /// - Parameter width: nil for all columns at full width.
    static func text<Row>(of report: ComparisonReport<Row>, width: Int? = TableWidth.ofOutput()) -> String {
        guard !report.rows.isEmpty else { return "no rule judges any figure\n" + outcome(of: report) }
        let cells = Dictionary(grouping: report.cells) { workload(of: $0.id) }
        let sections = report.rows.map { workload(of: $0.cellID) }.uniqued().map { workload in
            section(
                report.rows.filter { Self.workload(of: $0.cellID) == workload }, CellNames(cells[workload] ?? []),
                report,
                width)
        }
        let hidden = sections.flatMap(\.hidden).uniqued()
        return sections.map(\.text).joined(separator: "\n") + notes(of: report, hidden: hidden, width: width)
            + findings(of: report, width: width) + outcome(of: report) + remedies(of: report, width: width)
    }

    /// The id's first word.
    static func workload(of cellID: String) -> Substring { cellID.prefix { $0 != " " } }

    private static func section<Row>(
        _ rows: [Row], _ cells: CellNames, _ report: ComparisonReport<Row>, _ width: Int?
    ) -> PrintedTable.Layout {
        // The headings have the first two columns, cell and backend.
        let columns = Row.reportColumns.dropFirst(2)
        var lines: [PrintedTable.Line] = []
        for (index, row) in rows.enumerated() {
            if index == 0 || rows[index - 1].cellID != row.cellID || rows[index - 1].backend != row.backend {
                let name = cells.name(of: row.cellID)
                lines.append(.heading(name.isEmpty ? row.backend.rawValue : "\(name), \(row.backend.rawValue)"))
            }
            lines.append(line(columns.map { $0.text(row, report.units) }, row))
        }
        let table = PrintedTable(
            columns.map { .init(title: $0.title, isText: $0.isText, rank: $0.rank, isJoined: $0.isJoined) },
            lines: lines)
        let layout = table.layout(width: width)
        let title = TerminalText.escaped(cells.heading, limit: TerminalText.messageLimit)
        return .init(
            text: WrappedText.paragraph(title, width: width, hanging: 2) + layout.text, hidden: layout.hidden)
    }

    /// The last column is the verdict; its reason may be on a separate line.
    private static func line<Row: JudgedRow>(_ fields: [String], _ row: Row) -> PrintedTable.Line {
        let name = "  " + (fields.first ?? "")
        let figures = fields.dropFirst().dropLast()
        guard let doubt = row.doubt else { return .row([name] + figures + [fields.last ?? ""]) }
        return .row([name] + figures + [row.verdict.rawValue + ":"], remark: doubt.words)
    }

    private static func notes<Row>(of report: ComparisonReport<Row>, hidden: [String], width: Int?) -> String {
        var entries = report.surroundings.map {
            (term: "differs", meaning: TerminalText.escaped($0, limit: TerminalText.messageLimit))
        }
        if let noise = report.noise { entries.append(("noisy", noise)) }
        if !hidden.isEmpty {
            entries.append(("hidden", "terminal too narrow: \(hidden.joined(separator: ", ")); use --wide"))
        }
        return "\n" + DefinitionList(entries: entries).text(width: width) + ExplainColumnsCommand.pointer
    }

    private static func findings<Row>(of report: ComparisonReport<Row>, width: Int?) -> String {
        let lines = report.findings.map { TerminalText.escaped($0, limit: TerminalText.messageLimit) }
        return (lines.isEmpty ? "" : "\n") + lines.map { WrappedText.paragraph($0, width: width, hanging: 2) }.joined()
    }

    private static func remedies<Row>(of report: ComparisonReport<Row>, width: Int?) -> String {
        report.remedies.isEmpty
            ? "" : "\n" + report.remedies.map { WrappedText.paragraph($0, width: width, hanging: 2) }.joined()
    }

    private static func outcome<Row>(of report: ComparisonReport<Row>) -> String {
        guard let outcome = report.outcome else { return "" }
        return "\ngate: \(outcome.rawValue)\n"
    }
}

/// The number of figures with each verdict.
enum GateSummary {
    static func counts(of rows: [some JudgedRow]) -> String {
        let parts = Verdict.allCases.filter { $0 != .unjudged }.compactMap { verdict in
            let count = rows.count { $0.verdict == verdict }
            return count == 0 ? nil : "\(count) \(verdict.rawValue)"
        }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }
}
