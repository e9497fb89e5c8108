import ArgumentParser
import OpBenchAnalysis
import OpBenchModel
import OpBenchRunner

/// Runs that are judged together.
enum ComparedRuns {
    /// Two runs, the baseline first.
    case runs([MeasuredRun])
    /// One run of two interleaved builds.
    case sides(MeasuredRun)
    /// Runs of different cells, each by itself.
    case goals([MeasuredRun])

    var runs: [MeasuredRun] {
        switch self {
        case .runs(let runs), .goals(let runs): runs
        case .sides(let run): [run]
        }
    }

    /// The policy without a file.
    var standardPolicy: GatePolicy { if case .sides = self { .standardForSides } else { .standard } }

    /// Compares the two sides, or judges each run by goals.
    ///
    /// - Parameters:
    ///   - anchors: the baselines of the policy; without them, their rules judge nothing.
    ///   - list: parameters, separated by commas, that matching cells may differ in; one that no row has is refused.
    func rows(
        by policy: GatePolicy, anchors: [MeasuredRun] = [], ignoring list: String? = nil
    ) throws(InputError) -> [CompareRow] {
        let ignored = try ignored(list)
        let head = runs[runs.count - 1]
        let staged = Comparison.Question(policy, stages: head.facts?.stages ?? [], ignoring: ignored)
        let rows: [CompareRow]
        switch self {
        case .runs(let runs):
            for run in runs where run.hasSides {
                throw InputError(
                    file: run.name, message: "the run already has two sides",
                    remedy: "judge it with `opbench gate --ab`")
            }
            try MeasuredRun.checkSameHost(runs[0], head, ignoring: ignored)
            let question = Comparison.Question(policy, ignoring: ignored)
            rows = try Comparison(base: runs[0].samples, head: head.samples, question: question).rows
        case .sides(let run):
            guard Set(run.samples.map(\.side)).isSuperset(of: ["base", "head"]) else {
                throw InputError(
                    file: run.name, message: "the run has no sides `base` and `head`",
                    remedy: "name a run of `opbench ab`, or compare two runs with --baseline and --candidate")
            }
            rows = try SideComparison(staged).rows(run.samples)
        case .goals(let runs):
            for run in runs { try run.refuseSides(remedy: "judge runs of one build by goals") }
            try MeasuredRun.checkSameHosts(runs)
            return try GoalJudgement(
                policy.rules, of: runs.map { ($0.name, $0.samples) }, hosts: runs.hostsOfCells
            ).rows
        }
        for anchor in anchors { try MeasuredRun.checkSameHost(anchor, head, ignoring: ignored) }
        return rows.adding(anchored: try AnchoredComparison(anchors.baselines, staged).rows(head.samples))
    }

    private func ignored(_ list: String?) throws(InputError) -> Set<String> {
        guard let list else { return [] }
        let known = runs.reduce(into: Set<String>()) { known, run in
            for row in run.samples { known.formUnion(row.parameters.keys) }
        }.sorted()
        return Set(
            try NameList.names(list, option: "--ignore-parameters", known: known) {
                "no cell has a parameter \"\($0)\""
            })
    }
}

extension MeasuredRun {
    /// Compares two backends of a run of one build. The rows have the base's name and no verdicts.
    func rows(comparing base: BackendID, with head: BackendID) throws(InputError) -> [CompareRow] {
        if hasSides {
            throw InputError(
                file: name, message: "the run compares two builds",
                remedy: "compare backends of a run of one build, of `opbench run`")
        }
        let known = [self].backends.map(\.rawValue).sorted()
        for backend in [base, head] where !known.contains(backend.rawValue) {
            throw InputError(
                file: name, message: "the run has no backend \"\(backend.rawValue)\"",
                remedy: Suggestion.remedy(for: backend.rawValue, among: known))
        }
        return try Comparison(backends: base, head, of: samples).rows
    }
}

/// The place of runs, and how cells match: the options that `compare` and `gate` share.
struct ComparisonOptions: ParsableArguments {
    @Option(
        name: .customLong("ignore-parameters"),
        help: ArgumentHelp(
            "Parameters, separated by commas, that compared cells may differ in.", valueName: "list"))
    var ignoredParameters: String?

    @OptionGroup var results: ResultsOption
}
