import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// The result of a search: the commits at fault, and all steps.
struct BisectReport {
    private let found: BisectRun.Found
    private let change: SearchedChange
    private let steps: [BisectRun.Step]
    private let history: CommitHistory

    init(_ found: BisectRun.Found, _ change: SearchedChange, steps: [BisectRun.Step], _ history: CommitHistory) {
        (self.found, self.change, self.steps, self.history) = (found, change, steps, history)
    }

    /// - Parameter width: nil for no limit.
    func text(width: Int?) -> String {
        let lines = [headline] + suspects.map { "  " + words($0) } + ["", changeLine] + sharedLine
        return lines.map { TerminalText.escaped($0, limit: TerminalText.messageLimit) + "\n" }.joined() + "\n"
            + table.text(width: width)
    }

    /// The same for a comment or the summary of a CI job.
    var markdown: String {
        "### \(MarkdownText.cell(headline))\n\n"
            + suspects.map { "- \(MarkdownText.cell(words($0)))\n" }.joined()
            + ([changeLine] + sharedLine).map { "\n\(MarkdownText.cell($0))\n" }.joined() + "\n" + table.markdown()
    }

    private var headline: String {
        switch (suspects.count, found.isConfirmed) {
        case (1, true): "the first bad commit:"
        case (1, false): "not confirmed: this commit does not differ from the one before it by half of the change:"
        case (let count, true): "the first bad commit is one of \(count); those between were skipped:"
        case (let count, false): "not decided: the first bad commit is one of \(count):"
        }
    }

    private var suspects: [DescribedCommit] { found.suspects.map { history.others[$0 - 1] } }

    private func words(_ commit: DescribedCommit) -> String {
        "\(commit.commit.shortID)  \(commit.authorDate)  \(commit.subject)"
    }

    /// `cpu_time total of w work_ns=5000, engine: 1.05× (1.04–1.06), from v1.2 (00a160b1c2) to main (afe90963d4)`
    private var changeLine: String {
        let row = change.row
        let interval = row.interval.map { " (\($0))" } ?? ""
        let ends = "from \(history.good.words) to \(history.commit(at: history.others.count).words)"
        let figure = "\(row.figure.title) of \(row.cellID), \(row.backend.rawValue)"
        return "\(figure): \(Self.ratio(of: row))\(interval), \(ends)"
    }

    /// Without a confirmed commit, the step whose commit has about half of the change; empty if none has.
    private var sharedLine: [String] {
        if found.isConfirmed { return [] }
        let parts = steps.dropFirst().filter { !$0.isCheck }.compactMap { step in
            step.judged.flatMap { change.part(in: $0.row) }.map { (commit: step.head, part: $0) }
        }
        guard let middle = parts.min(by: { abs($0.part - 0.5) < abs($1.part - 0.5) }),
            (0.25...0.75).contains(middle.part)
        else { return [] }
        return [
            "\(middle.commit.shortID) has \(Quantities.percent(middle.part)) of the change: there may be two steps of about "
                + "equal size; search \(history.good.shortID)..\(middle.commit.shortID) for the first"
        ]
    }

    private static func ratio(of row: CompareRow) -> String { row.ratio.map(Quantities.ratio) ?? Quantities.absent }

    /// The steps, from 0.
    private var table: Table<(offset: Int, element: BisectRun.Step)> {
        Table(
            [
                .init("step") { String($0.offset) },
                .init("commit", isText: true) { $0.element.head.shortID },
                .init("against", isText: true, rank: 1) { $0.element.base.shortID },
                .init("ratio") { $0.element.judged.map { Self.ratio(of: $0.row) } ?? Quantities.absent },
                .init("95 %") { $0.element.judged?.row.interval ?? Quantities.absent },
                .init("blocks") { $0.element.judged?.row.blocks.map(String.init) ?? Quantities.absent },
                .init("verdict", isText: true) { $0.element.verdict },
            ], Array(steps.enumerated()))
    }
}

extension BisectRun.Step {
    /// `bad`; `good, uncertain`; `skipped`; of the last commits compared directly, `confirmed`.
    fileprivate var verdict: String {
        guard let judged else { return "skipped" }
        return switch (isCheck, judged.verdict, judged.isCertain) {
        case (true, .bad, true): "confirmed"
        case (true, .good, true): "refuted"
        case (true, _, false): "not decided"
        case (false, let verdict, let isCertain): "\(verdict)\(isCertain ? "" : ", uncertain")"
        }
    }
}
