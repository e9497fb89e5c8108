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
        if let loaded, loaded.isOfGoals {
            let title = "\(runs.map(\.name).joined(separator: ", ")) by the goals of \(policy ?? "")"
            verdicts.append(try judge(.goals(runs), as: .goals, title, by: loaded))
        }
        let rules = loaded.flatMap { $0.isOfGoals ? nil : $0 }
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

    private func judge(
        _ compared: ComparedRuns, as kind: JudgedFigures.Kind, _ title: String, by rules: GatePolicy?
    ) throws -> JudgedFigures {
        let policy = rules ?? compared.standardPolicy
        let anchors = try policy.anchors(in: folder, file: self.policy)
        let rows = try compared.rows(by: policy, anchors: anchors)
        let asked = policy.asked(among: rows)
        let outcome = GateOutcome(
            asked, hasBadSample: (compared.runs + anchors).contains(where: \.hasBadSample), isLenient: false)
        let report = ComparisonReport(rows: asked, outcome: outcome, compared: compared, anchors: anchors)
        let shown = rows.compactMap { row -> CompareRow? in
            if !policy.asked(among: [row]).isEmpty { return row }
            var row = row
            (row.verdict, row.doubt) = (.unjudged, nil)
            return row.isNotable ? row : nil
        }
        return JudgedFigures(
            kind: kind, title: report.origin.map { "\(title); \($0)" } ?? title, outcome: outcome.rawValue,
            table: Table(report.columns, shown), surroundings: report.surroundings, remedies: report.remedies)
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
