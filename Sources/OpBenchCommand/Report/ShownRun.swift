import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// A recorded run with its summary.
struct ShownRun {
    let run: MeasuredRun
    /// The summary in the order of the workload files.
    let rows: [SummaryRow]

    /// - Parameters:
    ///   - baseline: the reference backend of ratios.
    ///   - filter: nil for all cells.
    /// - Throws: `InputError` if the filter matches no cell, or no cell was measured on the baseline.
    init(_ run: MeasuredRun, ratioTo baseline: BackendID = .dispatch, filter: CellFilter? = nil) throws(InputError) {
        self.run = run
        var samples = run.samples
        if let filter {
            let matching = Self.cells(of: samples, matching: filter)
            samples.removeAll { !matching.contains($0.cellID) }
            if samples.isEmpty {
                throw InputError(
                    file: "--filter", message: "\"\(filter.pattern)\" matches no cell of \(run.name)",
                    remedy: "`opbench show \(run.name)` prints its cells")
            }
        }
        if baseline != .dispatch {
            let backends = Set(samples.map(\.backend.rawValue))
            if !backends.contains(baseline.rawValue) {
                throw InputError(
                    file: "--ratio-to", message: "\(run.name) has no backend \"\(baseline.rawValue)\"",
                    remedy: Suggestion.remedy(for: baseline.rawValue, among: backends.sorted()))
            }
        }
        let order = SummaryOrder(specs: run.facts?.workloads ?? [])
        let sides = ([""] + Side.allCases.map(\.rawValue)).filter { side in samples.contains { $0.side == side } }
        rows = order.sorted(sides.flatMap { summarize(samples, ratioTo: baseline, side: $0) }).markingUnsteady()
    }

    /// Matches cells by their ids and by their full names, which include parameters at their defaults.
    private static func cells(of samples: [SampleRow], matching filter: CellFilter) -> Set<String> {
        let matching = samples.uniqued(by: \.cellID).filter { row in
            filter.matches(row.cellID)
                || filter.matches(Cell.fullName(workload: row.workload, parameters: row.parameters))
        }
        return Set(matching.map(\.cellID))
    }
}

extension PresentationOptions {
    /// Descriptions and summaries of the runs; CSV contains only the rows.
    func text(of runs: [ShownRun]) -> String {
        switch format {
        case .csv: CSVFile.text(of: runs.flatMap(\.rows))
        case .table:
            runs.map { shown in
                DefinitionList(entries: RunDescription(shown.run).entries.map(escaped)).text(width: width)
                    + "\n" + text(ofSummary: shown.rows, facts: shown.run.facts)
            }.joined(separator: "\n")
        case .markdown:
            runs.map { shown in
                RunDescription(shown.run).entries.map { "- \($0.term): \(MarkdownText.cell($0.meaning))\n" }.joined()
                    + "\n" + text(ofSummary: shown.rows, facts: shown.run.facts)
            }.joined(separator: "\n")
        }
    }

    private func escaped(_ entry: (term: String, meaning: String)) -> (term: String, meaning: String) {
        (entry.term, TerminalText.escaped(entry.meaning, limit: TerminalText.fieldLimit))
    }
}
