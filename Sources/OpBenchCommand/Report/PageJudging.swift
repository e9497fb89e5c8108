import OpBenchAnalysis
import OpBenchModel
import OpBenchPage
import OpBenchRunner

/// Judges the runs of a page as `compare`, `gate` and `ab` do.
struct PageJudging {
    let runs: [MeasuredRun]
    let baseline: MeasuredRun?
    /// The policy file; nil for the standard policy of each comparison.
    let policy: String?
    /// The folder of runs.
    let folder: String

    /// One verdict for each run of two builds, one for each other run against the baseline, and one for all goals.
    func verdicts() throws -> [JudgedFigures] {
        let loaded = try policy.map { (file) throws(InputErrors) in
            try GatePolicy.load(file: file, recorded: (runs + [baseline].compactMap { $0 }).backends)
        }
        var verdicts: [JudgedFigures] = []
        if let loaded, !loaded.goals.isEmpty { verdicts.append(try judge(loaded.goals)) }
        let rules = loaded.flatMap { $0.goals.isEmpty ? $0 : nil }
        for run in runs {
            if run.hasSides {
                verdicts.append(try judge(.sides(run), as: .sides, "\(run.name): head against base", by: rules))
            } else if let baseline {
                let title = "\(run.name) against \(baseline.name)"
                verdicts.append(try judge(.runs([baseline, run]), as: .baseline, title, by: rules))
            }
        }
        if rules != nil, verdicts.isEmpty {
            throw InputError(
                file: policy ?? "", path: "$.rules", message: "the rules compare two sides, but there is only one",
                remedy: "name a --baseline, or a policy whose rules have at_most")
        }
        return verdicts
    }

    /// Commands that would judge the runs.
    var advice: [(words: String, command: String)] {
        let names = runs.map(\.name)
        let files = runs.first?.facts?.workloads.map(\.file) ?? []
        return [
            ("against an earlier run", ShellWords.ofThisProgram(["report"] + names + ["--baseline", "RUN"])),
            ("by goals of your own", ShellWords.ofThisProgram(["report"] + names + ["--policy", "FILE"])),
            (
                "two builds, interleaved: the most precise comparison",
                ShellWords.ofThisProgram(["ab", "--base-ref", "main"] + (files.isEmpty ? ["FILE"] : files))
            ),
        ]
    }

    private func judge(_ goals: [GatePolicy.Goal]) throws(InputError) -> JudgedFigures {
        let rows = try runs.rows(by: goals)
        let outcome = GateOutcome(rows, hasBadSample: runs.contains(where: \.hasBadSample), isLenient: false)
        let report = ComparisonReport(rows: rows, outcome: outcome, compared: .goals(runs))
        return JudgedFigures(
            .goals, "\(runs.map(\.name).joined(separator: ", ")) by the goals of \(policy ?? "")", report,
            rows: rows.map { row in
                let isRatio = !row.reference.isEmpty
                return JudgedFigures.Row(
                    row, report.fields(row), ratio: isRatio ? row.ratio : nil, low: isRatio ? row.low : nil,
                    high: isRatio ? row.high : nil,
                    margin: isRatio ? row.atMost : nil)
            })
    }

    private func judge(
        _ compared: ComparedRuns, as kind: JudgedFigures.Kind, _ title: String, by rules: GatePolicy?
    ) throws -> JudgedFigures {
        let policy = rules ?? compared.standardPolicy
        let anchors = try policy.anchors(in: folder, file: self.policy)
        let rows = try compared.rows(by: policy, anchors: anchors)
        let outcome = GateOutcome(
            rows, policy: policy, hasBadSample: (compared.runs + anchors).contains(where: \.hasBadSample),
            isLenient: false)
        let asked = rows.filter { policy.rule(for: $0) != nil }
        let report = ComparisonReport(rows: asked, outcome: outcome, compared: compared, anchors: anchors)
        let shown = rows.filter { policy.rule(for: $0) != nil || $0.isNotable }
        return JudgedFigures(
            kind, report.origin.map { "\(title); \($0)" } ?? title, report,
            rows: shown.map { row in
                JudgedFigures.Row(
                    row, report.fields(row), verdict: policy.rule(for: row) == nil ? "" : row.verdict.rawValue,
                    ratio: row.ratio,
                    low: row.ratioLow, high: row.ratioHigh, margin: row.threshold)
            })
    }
}

extension CompareRow {
    /// Whether the figure is of general interest even without a rule.
    fileprivate var isNotable: Bool {
        guard ratio != nil, figure.operationClass.isEmpty else { return false }
        return switch figure.metric {
        case Metric.time.name: figure.phase == "total"
        case Metric.startLatency.name: ["p50", "p99"].contains(figure.stat)
        case BaselineRatio.time.rawValue, BaselineRatio.cpuTime.rawValue, Metric.cpuTime.name, Metric.allocations.name,
            Metric.allocatedBytes.name, Metric.retainedBytes.name, Metric.peakResident.name:
            true
        default: false
        }
    }
}

extension JudgedFigures {
    fileprivate init<Row: JudgedRow>(_ kind: Kind, _ title: String, _ report: ComparisonReport<Row>, rows: [Self.Row]) {
        self.init(
            kind: kind, title: title, outcome: report.outcome?.rawValue ?? "",
            columns: Row.reportColumns.map { Column(title: $0.title, isText: $0.isText, isDetail: $0.isDetail) },
            rows: rows,
            surroundings: report.surroundings, remedies: report.remedies)
    }
}

extension JudgedFigures.Row {
    fileprivate init<Row: JudgedRow>(
        _ row: Row, _ fields: [String], verdict: String? = nil, ratio: Double?, low: Double?, high: Double?,
        margin: Double?
    ) {
        self.init(
            cellID: row.cellID, figure: row.figureName, cells: fields,
            verdict: verdict ?? row.verdict.rawValue, backend: row.backend.rawValue, ratio: ratio, low: low, high: high,
            margin: margin)
    }
}
